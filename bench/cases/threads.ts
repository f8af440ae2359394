import { getPriority, setPriority } from 'node:os'
import type { Builds, EventCase, Observation, RateCase } from '../case.js'
import { checkWrite, KIB, MIB, write } from '../content.js'
import { each } from '../load/each.js'
import type { Request } from '../load/request.js'
import { clientTls } from '../server/certificates.js'
import { openCache, recycling, threaded, tlsCache } from '../server/config.js'
import { type ServerProcess, startBare, startRemexec } from '../server/process.js'
import { boundThreads, cgroups } from '../server/thread-bound.js'
import { percentile } from '../statistics.js'
import { actionResult, findMissing, reading, type Sending, type Work, writing } from './cache-work.js'
import { latenciesDuring } from './meanwhile.js'
import { freshBlob } from './sizes.js'

const MOST_THREADS = 8
/**
 * At least one client for each thread, and for each thread as many calls in flight as another case gives the one. Fewer, and a
 * thread finds less to do in each turn of its loop, which is what a call costs on a server that has little to do.
 */
const CONNECTIONS = { connections: 2 * MOST_THREADS, times: MOST_THREADS }

const works = (sending: Sending = CONNECTIONS): readonly Work[] => [
  findMissing(sending),
  actionResult(sending),
  ...[
    { name: '1 KiB', bytes: KIB },
    { name: '1 MiB', bytes: MIB },
  ].flatMap((size) => [reading(size, sending), writing(size, sending)]),
]

/** For each thread what the cases `4x32` and `32x1` give the one: connections x calls on each. */
const loadsOfBuilds = (): readonly Work[] => [
  { ...findMissing({ connections: 32, times: 32 }), name: 'FindMissingBlobs(1) 32x32' },
  { ...findMissing({ connections: 256, times: MOST_THREADS }), name: 'FindMissingBlobs(1) 256x1' },
]

/** The CPU of a call where the machine has fewer processors than threads: what more threads cost. */
const costs = (): readonly RateCase[] =>
  [...works(), ...loadsOfBuilds()].map(
    ({ name, unit, requests, setUp, run }): RateCase => ({
      kind: 'rate',
      name: `${name}, ${MOST_THREADS} service threads`,
      unit,
      unitsPerRequest: 1,
      // Each thread compiles the code for itself.
      requests: { ...requests, warm: MOST_THREADS * (unit === 'op' ? 5000 : 250) },
      configure: threaded(MOST_THREADS, openCache),
      setUp,
      run,
      limits: [1, 2, 4].map((threads) => ({
        name: threads === 1 ? 'one thread' : `${threads} service threads`,
        usesBare: true,
        configure: threaded(threads, openCache),
        run,
      })),
    }),
  )

/** As many calls for each thread in flight as in the cases above, by a load of its own for each. */
const OF_A_THREAD = { connections: 2 }
const COMPARED_CALLS = 100_000
/** Until each thread of each process has compiled the code. */
const WARM_UP_RUNS = 8

/** The CPU of a call if the same load is spread over these servers, in microseconds. */
const spreadCpu = async (work: Work, servers: readonly ServerProcess[]): Promise<number> => {
  const each = COMPARED_CALLS / MOST_THREADS
  for (const server of servers) await server.begin()
  await Promise.all(
    Array.from({ length: MOST_THREADS }, (_, at) => work.run(servers[at % servers.length] as ServerProcess, each)),
  )
  let micros = 0
  for (const server of servers) micros += (await server.end()).cpuMicros
  return micros / COMPARED_CALLS
}

/**
 * What the threads of one server cost beside as many servers of one thread, which share nothing. That many loops on fewer
 * processors have colder caches, and less to do in each turn, whatever they share.
 */
const besideProcesses = (work: Work): EventCase => ({
  kind: 'event',
  name: `${work.name}, ${MOST_THREADS} service threads beside ${MOST_THREADS} servers`,
  isSlow: true,
  async *observe({ cli, rounds }) {
    const started: ServerProcess[] = []
    const start = async (count: number, threads: number): Promise<readonly ServerProcess[]> => {
      const servers: ServerProcess[] = []
      for (let at = 0; at < count; at++) {
        const server = await startRemexec(threaded(threads, openCache), { cli })
        started.push(server)
        servers.push(server)
        await work.setUp(server)
      }
      return servers
    }
    try {
      const sides = [await start(1, MOST_THREADS), await start(MOST_THREADS, 1), await start(1, 1)]
      for (const servers of sides) for (let run = 0; run < WARM_UP_RUNS; run++) await spreadCpu(work, servers)
      const values: number[][] = sides.map(() => [])
      for (let round = 0; round < rounds; round++)
        for (const [at, servers] of sides.entries()) values[at]?.push(await spreadCpu(work, servers))
      const [ours = [], apart = [], one = []] = values
      const name = `${MOST_THREADS} service threads`
      yield { name, unit: 'µs', values: ours, beside: { name: `${MOST_THREADS} servers of one thread`, values: apart } }
      yield { name, unit: 'µs', values: ours, beside: { name: 'one thread', values: one } }
    } finally {
      for (const server of started) await server.stop()
    }
  },
})

/** Of a processor. */
const SHARE = 0.1
const BOUND_RUN_S = 2
/** Of each thread, until it has compiled the code: each does so for itself, before it is slow. */
const WARM_UP_CALLS = { op: 200_000, MiB: 4000 }

/** Every connection has as many calls in flight in both, so that a thread has as many with `EACH` as one thread has with `ALL`. */
const ALL = CONNECTIONS
const EACH = { connections: MOST_THREADS * ALL.connections, times: MOST_THREADS * ALL.times }

interface BoundFigures {
  /** Calls a second. */
  readonly rates: readonly number[]
  /** CPU of a call in microseconds. */
  readonly cpu: readonly number[]
}

/**
 * If each thread has a small share of a processor: what more threads bring where there are processors for them, and what they cost there.
 * The loads run one after the other against one server; `loads[0]` also warms it up.
 */
const whileBound = async (
  loads: readonly Work[],
  threads: number,
  isTls: boolean,
  { cli, rounds }: Builds,
): Promise<BoundFigures[]> => {
  const server = await startRemexec(threaded(threads, recycling(isTls ? tlsCache : openCache)), { cli, tls: clientTls })
  let release = (): void => {}
  try {
    for (const work of loads) await work.setUp(server)
    const [first] = loads as [Work]
    const { most } = first.requests
    for (let calls = 0; calls < threads * WARM_UP_CALLS[first.unit]; calls += most) await first.run(server, most)
    release = boundThreads(server.pid, SHARE)
    const figures: BoundFigures[] = []
    for (const work of loads) figures.push(await figuresOf(work, server, rounds))
    return figures
  } finally {
    await server.stop()
    release()
  }
}

const figuresOf = async (work: Work, server: ServerProcess, rounds: number): Promise<BoundFigures> => {
  const { least } = work.requests
  const first = await work.run(server, least)
  const requests = Math.max(least, Math.round((least / first.seconds) * BOUND_RUN_S))
  const rates: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < rounds; round++) {
    await server.begin()
    const { seconds } = await work.run(server, requests)
    const { cpuMicros } = await server.end()
    rates.push(requests / seconds)
    cpu.push(cpuMicros / requests)
  }
  return { rates, cpu }
}

const bound = (isTls: boolean): EventCase => ({
  kind: 'event',
  name: `threads held to ${SHARE} of a processor (${cgroups?.name})${isTls ? ', TLS' : ''}`,
  isSlow: true,
  async *observe(builds) {
    const eights = works(EACH)
    for (const [at, work] of works(ALL).entries()) {
      const loads = [work, eights[at] as Work]
      const [many, manyEach] = (await whileBound(loads, MOST_THREADS, isTls, builds)) as [BoundFigures, BoundFigures]
      const [one, oneEach] = (await whileBound(loads, 1, isTls, builds)) as [BoundFigures, BoundFigures]
      const beside = (load: string, ours: BoundFigures, ofOne: string, theirs: BoundFigures): Observation[] => {
        const name = `${work.name}, ${load}, ${MOST_THREADS} service threads`
        return [
          { name, unit: 'op/s', values: ours.rates, beside: { name: ofOne, values: theirs.rates } },
          { name, unit: 'µs', values: ours.cpu, beside: { name: ofOne, values: theirs.cpu } },
        ]
      }
      const [few, all] = [`${ALL.connections} connections`, `${EACH.connections} connections`]
      yield* beside(few, many, 'one thread', one)
      yield* beside(all, manyEach, 'one thread', oneEach)
      yield* beside(all, manyEach, `one thread, ${few}`, one)
    }
  },
})

/** Resident memory after calls of every kind on every thread. */
const memory: EventCase = {
  kind: 'event',
  name: 'memory of a further service thread',
  async *observe({ cli, rounds }) {
    const residentOf = async (threads: number): Promise<number> => {
      const server = await startRemexec(threaded(threads, openCache), { cli })
      try {
        for (const work of works()) {
          await work.setUp(server)
          await work.run(server, work.requests.least)
        }
        return server.residentBytes() / MIB
      } finally {
        await server.stop()
      }
    }
    const values: number[] = []
    for (let round = 0; round < rounds; round++)
      values.push(((await residentOf(MOST_THREADS)) - (await residentOf(2))) / (MOST_THREADS - 2))
    yield { name: 'resident', unit: 'MiB', values }
  },
}

const UPLOADS = 300
const DOWNLOADS = 100
const MIB_EACH = { name: '1 MiB', bytes: MIB }

/** Of this process and those that it starts meanwhile. */
const LOWEST_PRIORITY = 19

/**
 * Load stands for other machines, so it gives way to the server where this user may raise its priority again. Without that the server waits for
 * a processor that the load has.
 */
const givingWay = async (work: () => Promise<void>): Promise<void> => {
  const before = getPriority()
  setPriority(LOWEST_PRIORITY)
  try {
    await work()
  } finally {
    setPriority(before)
  }
}

const mayGiveWay = process.geteuid?.() === 0

/** Uploads on two connections while two others download all the time. */
const transfers = async (server: ServerProcess, uploads: readonly Request[], downloading: Work): Promise<void> => {
  let isOver = false
  const download = async (): Promise<void> => {
    while (!isOver) await downloading.run(server, DOWNLOADS)
  }
  const uploaded = each(server, uploads, { concurrency: 8, connections: 2, check: checkWrite(MIB) }).finally(() => {
    isOver = true
  })
  await Promise.all([uploaded, download()])
}

/** Whether a client waits while others send, receive and hash as much as they can. */
const beside: EventCase = {
  kind: 'event',
  name: 'GetCapabilities while other connections upload and download',
  async *observe({ cli, rounds }) {
    const bare = await startBare()
    /** Of the server that is loaded, or of one that does nothing else meanwhile: what the processors let anyone have. */
    const p99 = async (threads: number, asked?: ServerProcess): Promise<number[]> => {
      const server: ServerProcess = await startRemexec(threaded(threads, openCache), { cli })
      const downloading = reading(MIB_EACH, { connections: 2 })
      try {
        await downloading.setUp(server)
        const values: number[] = []
        for (let round = 0; round <= rounds; round++) {
          const uploads = Array.from({ length: UPLOADS }, () => write(server, freshBlob(MIB, false)))
          const load = (): Promise<void> => transfers(server, uploads, downloading)
          const tookMs = await latenciesDuring(asked ?? server, mayGiveWay ? () => givingWay(load) : load)
          // The first is to warm up.
          if (round > 0) values.push(percentile(tookMs, 99))
        }
        return values
      } finally {
        await server.stop()
      }
    }
    try {
      const values = await p99(4)
      yield { name: 'p99, 4 service threads', unit: 'ms', values, beside: { name: 'one thread', values: await p99(1) } }
      const idle = { name: 'a bare handler meanwhile', values: await p99(4, bare) }
      yield { name: 'p99, 4 service threads', unit: 'ms', values, beside: idle }
    } finally {
      await bare.stop()
    }
  },
}

/** What service threads cost and bring. The rates of bound threads need a cgroup that this user may write. */
export const threadCases = (): readonly (RateCase | EventCase)[] => [
  ...costs(),
  ...[findMissing(OF_A_THREAD), actionResult(OF_A_THREAD)].map(besideProcesses),
  memory,
  beside,
  ...(cgroups === undefined ? [] : [bound(false), bound(true)]),
]
