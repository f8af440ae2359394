import { setTimeout } from 'node:timers/promises'
import type { Builds, EventCase, Observation } from '../case.js'
import { Connection, prepare } from '../load/connection.js'
import type { Request } from '../load/request.js'
import { schedulingOnly } from '../server/config.js'
import { memoryPlace } from '../server/place.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { TimingWorker } from '../server/timing-worker.js'
import { percentile } from '../statistics.js'
import { trueActions } from './true.js'

const QUEUED = [0, 1_000, 10_000]
const RUNS = 1_000
/** Warm-up actions before the measured ones: a fresh server has not compiled its code. */
const WARM_UP = 500
const PLACES = 16
/** Below the number of streams that a server accepts on one connection. */
const STREAMS = 1_000

/** Its status page shows how many actions wait. */
const configure = (dataPath: string): object => {
  const config = schedulingOnly(dataPath) as { readonly servers: readonly { readonly services: object }[] }
  return { ...config, servers: config.servers.map((server) => withAdmin(server)) }
}

const withAdmin = (server: { readonly services: object }): object =>
  'execution' in server.services ? { ...server, services: { ...server.services, admin: {} } } : server

const untilQueued = async ({ address }: ServerProcess, wanted: number): Promise<void> => {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`http://${address}/admin`)
    const { schedulers } = (await answer.json()) as { schedulers: { MAIN: { queued: number } } }
    if (schedulers.MAIN.queued >= wanted) return
    await setTimeout(100)
  }
  throw new Error(`fewer than ${wanted} actions wait after a minute`)
}

/** Clients that wait for their actions, as many streams on a connection as allowed. */
class Waiting {
  readonly #connections: Connection[] = []
  #begun = 0

  async begin(server: ServerProcess, request: Request): Promise<void> {
    if (this.#begun++ % STREAMS === 0) this.#connections.push(await Connection.open(server))
    // Clients that still wait at the end get an error, because the server has ended.
    this.#connections
      .at(-1)
      ?.call(prepare(request))
      .catch(() => {})
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

const latenciesMs = async (server: ServerProcess, queued: number): Promise<readonly number[]> => {
  const before = queued === 0 ? 0 : queued + PLACES
  const requests = await trueActions(server, before + WARM_UP + RUNS)
  const worker = await TimingWorker.connect(server.addresses.get('workers') ?? '', PLACES)
  const clients = new Waiting()
  const tookMs: number[] = []
  try {
    for (const request of requests.slice(0, before)) await clients.begin(server, request)
    await untilQueued(server, queued)
    for (const request of requests.slice(before)) {
      const started = worker.nextStart()
      let fromMs = performance.now()
      await clients.begin(server, request)
      if (queued > 0) {
        // It joins the queue before the clock starts for the first one.
        await setTimeout(2)
        fromMs = performance.now()
        worker.end()
      }
      await started
      tookMs.push(performance.now() - fromMs)
      if (queued === 0) worker.end()
      await setTimeout(1)
    }
  } finally {
    clients.close()
    worker.close()
  }
  return tookMs.slice(WARM_UP)
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  for (const queued of QUEUED) {
    const all: (readonly number[])[] = []
    for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
      const server = await startRemexec(configure, { cli, profileFolder, ...(memoryPlace && { place: memoryPlace }) })
      try {
        all.push(await latenciesMs(server, queued))
      } finally {
        await server.kill()
      }
    }
    const way = queued === 0 ? 'from Execute to the start' : 'from a result to the next start'
    for (const percent of [50, 99]) {
      const values = all.map((list) => percentile(list, percent))
      yield { name: `${way}, ${queued.toLocaleString('en')} queued, p${percent}`, unit: 'ms', values }
    }
  }
}

/** The delay until a worker's next action, and until a client's action starts, through both sockets. */
export const dispatchOnTheWireCases = (): readonly EventCase[] => [
  { kind: 'event', name: 'dispatch on the wire', observe },
]
