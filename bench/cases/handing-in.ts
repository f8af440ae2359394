/** What a server holds for its clients is handed in again to another process of the scheduler. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../src/base/clock.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { silentLog } from '../../src/log/log.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { Spread } from '../../src/scheduler/elected/spread.js'
import { grpc } from '../../src/scheduler/kind/grpc.js'
import type { Scheduler } from '../../src/scheduler/scheduler.js'
import { Resources } from '../../src/work/resources.js'
import { freePorts } from '../../test/store/remote/backend.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { schedulingOnly } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { cpuMicrosOf } from '../server/usage.js'

const COUNT = 100_000
/** Of a quick run. */
const FEW = 10_000

interface Listening {
  readonly listener: object
}

/** The scheduler at an address that its next process has too. */
const at =
  (port: number) =>
  (dataPath: string): object => {
    const config = schedulingOnly(dataPath) as { readonly servers: readonly Listening[] }
    const [clients, workers] = config.servers as [Listening, Listening]
    const listener = { http: { socket_address: `127.0.0.1:${port}` } }
    const schedulers = [{ name: 'MAIN', simple: { no_worker_timeout_s: 3600, max_queued_actions: COUNT } }]
    return { ...config, schedulers, servers: [{ ...clients, listener }, workers] }
  }

/** A server that forwards to the scheduler, without sockets of its own: the code that holds the clients' operations. */
const front = (port: number, joined: () => void): Promise<Scheduler> =>
  grpc.build(
    {
      endpoint: {
        ...{ address: `grpc://127.0.0.1:${port}`, concurrency_limit: 0, connect_timeout_s: 60 },
        ...{ http2_keepalive_interval_s: 30, http2_keepalive_timeout_s: 20 },
      },
      retry: { max_retries: 0, delay: 0.1, jitter: 0, budget_s: 0 },
      ...{ max_concurrent_requests: 0, connections_per_endpoint: 1, scheduler_wait_s: 600, headers: new Map() },
    },
    {
      ...{
        name: 'FRONT',
        clock: systemClock,
        resources: new Resources(silentLog),
        newId: randomUUID,
        ledger: new Ledger(),
      },
      ...{ spread: new Spread(), watch: () => {} },
      log: { ...silentLog, info: (message) => message === 'joined the scheduler' && joined() },
      results: { find: async () => undefined, keep: async (_, response) => response },
      child: () => Promise.reject(new Error('it wraps none')),
    },
  )

/** Clients that each wait for an action that no worker runs. */
class Waiting {
  readonly #end = new AbortController()
  readonly #scheduler: Scheduler
  readonly #count: number
  /** Whom the scheduler has told something. */
  readonly #told = new Set<string>()
  #allTold = (): void => {}

  constructor(scheduler: Scheduler, count: number) {
    this.#scheduler = scheduler
    this.#count = count
  }

  async begin(): Promise<void> {
    for (let index = 0; index < this.#count; index++) {
      const name = await this.#scheduler.execute({
        ...{ instanceName: '', actionDigest: Digest.of(Buffer.from(`action ${index}`), digestFunctions.SHA256) },
        ...{ properties: [], priority: 0, invocation: `build ${index % 10}` },
        ...{ doNotCache: false, skipCacheLookup: true },
      })
      this.#follow(name).catch((error: unknown) => {
        if (!this.#end.signal.aborted) throw error
      })
    }
  }

  forget(): void {
    this.#told.clear()
  }

  async allTold(): Promise<void> {
    if (this.#told.size === this.#count) return
    await new Promise<void>((resolve) => {
      this.#allTold = resolve
    })
  }

  end(): void {
    this.#end.abort()
    this.#scheduler.close()
  }

  async #follow(name: string): Promise<void> {
    for await (const { past, outcome } of this.#scheduler.watch(name, this.#end.signal)) {
      if (outcome !== undefined) throw 'error' in outcome ? outcome.error : new Error(`${name} ended`)
      if (past === undefined) continue
      this.#told.add(name)
      if (this.#told.size === this.#count) this.#allTold()
    }
  }
}

interface Round {
  readonly tookMs: number
  readonly cpuMs: number
}

const round = async (count: number, { cli, profileFolder }: Builds): Promise<Round> => {
  const [port = 0] = await freePorts(1)
  let server: ServerProcess = await startRemexec(at(port), { cli })
  let joinedMs = 0
  const scheduler = await front(port, () => {
    joinedMs = performance.now()
  })
  const clients = new Waiting(scheduler, count)
  try {
    await Promise.all([clients.begin(), clients.allTold()])
    await server.kill()
    clients.forget()
    server = await startRemexec(at(port), { cli, profileFolder })
    await clients.allTold()
    const tookMs = performance.now() - joinedMs
    return { tookMs, cpuMs: cpuMicrosOf(server.pid) / 1_000 }
  } finally {
    clients.end()
    await server.stop()
  }
}

async function* observe(builds: Builds): AsyncGenerator<Observation> {
  const count = builds.isQuick ? FEW : COUNT
  const all: Round[] = []
  for (let index = 0; index < builds.rounds; index++) all.push(await round(count, builds))
  const what = `${count.toLocaleString('en')} operations`
  yield {
    name: `${what}, from the join to the last word of the scheduler`,
    unit: 'ms',
    values: all.map((one) => one.tookMs),
  }
  yield { name: `${what}, CPU of its process with its start`, unit: 'ms', values: all.map((one) => one.cpuMs) }
}

/** Operations that wait, when the process with the scheduler is another one. */
export const handingInCases = (): readonly EventCase[] => [{ kind: 'event', name: 'handing in again', observe }]
