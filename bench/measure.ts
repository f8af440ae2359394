import type { Limit, RateCase, Unit } from './case.js'
import type { LoadResult } from './load/request.js'
import type { Server } from './server/process.js'
import { type Meter, ownMeter } from './server/usage.js'
import { median, percentile, type Spread, spreadOf } from './statistics.js'

/** What one side of a comparison did in all rounds: medians, except for peaks. */
export interface Side {
  readonly name: string
  /** Units a second. */
  readonly rate: Spread
  /** Server CPU microseconds per unit. NaN where it is not known. */
  readonly cpuMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly peakResidentBytes: number
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number } | undefined
  /** Median over rounds of ours/this one of one round, with the extremes. Undefined for ours. */
  readonly ratio: Spread | undefined
}

export interface Figures {
  readonly name: string
  readonly unit: Unit
  readonly requestsPerRound: number
  readonly sides: readonly Side[]
}

/** Someone to measure: ours first, others beside it. */
export interface Contender {
  readonly name: string
  readonly meter: Meter
  readonly setUp: () => Promise<void>
  readonly run: (requests: number, ready: () => Promise<void>) => Promise<LoadResult>
}

interface Round {
  readonly rate: number
  readonly cpuMicros: number
  readonly latenciesMs: readonly number[]
  readonly peakResidentBytes: number
  readonly loopDelay: Side['loopDelay']
}

export const serverContender = (name: string, subject: RateCase, server: Server): Contender => ({
  name,
  meter: server,
  setUp: async () => {
    try {
      await subject.setUp?.(server)
    } catch (cause) {
      throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  },
  run: (requests, ready) => subject.run(server, requests, ready),
})

export const limitContender = (limit: Limit, bare: Server): Contender => ({
  name: limit.name,
  meter: limit.usesBare ? bare : ownMeter,
  setUp: async () => {},
  run: (requests, ready) => limit.run(bare, requests, ready),
})

/**
 * Alternates all sides, so that what disturbs the machine disturbs each of them. A first round, not counted, warms them up
 * and tells how many requests make a run of about `runMs`.
 */
export const measure = async (
  subject: RateCase,
  contenders: readonly Contender[],
  { rounds, runMs }: { readonly rounds: number; readonly runMs: number },
): Promise<Figures> => {
  for (const { setUp } of contenders) await setUp()
  const requests = await warmUp(subject, contenders, runMs)
  const byContender = contenders.map((): Round[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      byContender[index]?.push(await clocked(contender, subject, requests))
    }
  }
  const [ours = []] = byContender
  const sides = contenders.map(({ name }, index) => sideOf(name, byContender[index] ?? [], index === 0 ? [] : ours))
  return { name: subject.name, unit: subject.unit, requestsPerRound: requests, sides }
}

const nothing = async (): Promise<void> => {}

/** How many requests make a run of about `runMs` at ours; every other side is warmed up with as many. */
const warmUp = async (subject: RateCase, contenders: readonly Contender[], runMs: number): Promise<number> => {
  const { least, most } = subject.requests
  const [ours, ...others] = contenders
  let requests = least
  for (let isLongEnough = false; ours !== undefined && !isLongEnough; ) {
    const { seconds } = await ours.run(requests, nothing)
    const fitting = Math.round((requests * runMs) / (seconds * 1000))
    isLongEnough = fitting <= 2 * requests || requests >= most
    requests = Math.min(most, Math.max(least, fitting))
  }
  for (const { run } of others) await run(requests, nothing)
  return requests
}

const clocked = async ({ meter, run }: Contender, subject: RateCase, count: number): Promise<Round> => {
  await meter.begin()
  const { seconds, requests, latenciesMs, cpuMicros: elsewhere } = await run(count, () => meter.begin())
  const { cpuMicros: metered, peakResidentBytes, loopDelay } = await meter.end()
  const cpuMicros = elsewhere ?? metered
  const units = requests * subject.unitsPerRequest
  return { rate: units / seconds, cpuMicros: cpuMicros / units, latenciesMs, peakResidentBytes, loopDelay }
}

const sideOf = (name: string, rounds: readonly Round[], ours: readonly Round[]): Side => {
  const delays = rounds.flatMap(({ loopDelay }) => loopDelay ?? [])
  const ratios = ours.map((round, index) => round.rate / (rounds[index]?.rate ?? Number.NaN))
  return {
    name,
    rate: spreadOf(rounds.map(({ rate }) => rate)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
    p50Ms: median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 50))),
    p99Ms: median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 99))),
    peakResidentBytes: Math.max(...rounds.map(({ peakResidentBytes }) => peakResidentBytes)),
    loopDelay:
      delays.length === 0
        ? undefined
        : { p99Ms: median(delays.map(({ p99Ms }) => p99Ms)), maxMs: Math.max(...delays.map(({ maxMs }) => maxMs)) },
    ratio: ratios.length === 0 ? undefined : spreadOf(ratios),
  }
}
