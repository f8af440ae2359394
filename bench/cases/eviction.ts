import { rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Builds, EventCase, Observation } from '../case.js'
import { absentDigest, ask, fill } from '../fill.js'
import { Connection, prepare } from '../load/connection.js'
import { evictingCache } from '../server/config.js'
import { type ServerProcess, startOn, temporaryFolder } from '../server/process.js'
import { percentile } from '../statistics.js'

const EVICTED = 100_000
const KEPT = 10_000
const LOAD_MS = 3_000
const LANES = 4
const MOST_WAIT_MS = 120_000

/** Small calls without a pause, with the latency of each. */
const loadFor = async (server: ServerProcess, durationMs: number): Promise<number[]> => {
  const connection = await Connection.open(server)
  const question = prepare(ask(server, [absentDigest()]))
  const endMs = performance.now() + durationMs
  const latenciesMs: number[] = []
  const lane = async (): Promise<void> => {
    while (performance.now() < endMs) latenciesMs.push((await connection.call(question)).latencyMs)
  }
  try {
    await Promise.all(Array.from({ length: LANES }, lane))
  } finally {
    connection.close()
  }
  return latenciesMs
}

const fileCount = async (path: string): Promise<number> =>
  (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length

const evictedMs = async (contentPath: string, startMs: number): Promise<number> => {
  while (performance.now() - startMs < MOST_WAIT_MS) {
    if ((await fileCount(contentPath)) < KEPT + EVICTED / 10) return performance.now() - startMs
    await wait(250)
  }
  throw new Error(`the files of ${EVICTED} evicted blobs were still there after ${MOST_WAIT_MS / 1000} s`)
}

interface Rounds {
  readonly before: number[][]
  readonly during: number[][]
  readonly loopMaxMs: number[]
  readonly evictedMs: number[]
}

/** Fills a store to its limit, then writes one blob more under load. */
const round = async ({ cli }: Builds, into: Rounds): Promise<void> => {
  const folder = temporaryFolder()
  const dataPath = join(folder, 'data')
  const server = await startOn(dataPath, evictingCache(EVICTED, KEPT), { cli })
  try {
    await fill(server, EVICTED + KEPT)
    into.before.push(await loadFor(server, LOAD_MS))
    await server.begin()
    const startMs = performance.now()
    const [during] = await Promise.all([loadFor(server, LOAD_MS), fill(server, 10)])
    into.during.push(during)
    into.evictedMs.push(await evictedMs(join(dataPath, 'cas', 'content'), startMs))
    into.loopMaxMs.push((await server.end()).loopDelay?.maxMs ?? Number.NaN)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* observe(builds: Builds): AsyncGenerator<Observation> {
  const rounds: Rounds = { before: [], during: [], loopMaxMs: [], evictedMs: [] }
  for (let index = 0; index < (builds.isQuick ? 1 : builds.rounds); index++) await round(builds, rounds)
  for (const [name, percent] of [
    ['p50', 50],
    ['p99', 99],
    ['longest', 100],
  ] as const) {
    const of = (lists: number[][]): number[] => lists.map((list) => percentile(list, percent))
    const beside = { name: 'the same load before', values: of(rounds.before) }
    yield { name: `FindMissingBlobs(1) meanwhile, ${name}`, unit: 'ms', values: of(rounds.during), beside }
  }
  yield { name: 'longest event-loop delay', unit: 'ms', values: rounds.loopMaxMs }
  yield { name: 'until the files are gone', unit: 'ms', values: rounds.evictedMs }
}

/** The latency that callers see while a full store evicts. A quick run has one round. */
export const evictionCases = (): readonly EventCase[] => [
  { kind: 'event', name: `eviction of ${EVICTED.toLocaleString('en')} blobs under load`, isSlow: true, observe },
]
