import type { Limit, RateCase, Unit } from './case.js'
import type { LoadResult } from './load/request.js'
import type { Server } from './server/process.js'
import { type Meter, ownMeter } from './server/usage.js'
import { median, percentile, type Spread, spreadOf } from './statistics.js'
import { type Pace, warmUp } from './warm-up.js'

/** What one side did in one run. NaN where something is not known, which is null in JSON. */
export interface Round {
  /** Units a second. */
  readonly rate: number
  /** Server CPU microseconds per unit. */
  readonly cpuMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly peakResidentBytes: number
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number } | undefined
}

/** What one side of a comparison did in all rounds: medians, except for peaks. */
export interface Side extends Omit<Round, 'rate'> {
  readonly name: string
  readonly rate: Spread
  /** Median over rounds of ours/this one of one round, with the extremes. Undefined for ours. */
  readonly ratio: Spread | undefined
  /** Of messages with their gRPC frames, for one request. Undefined where nothing goes over a wire. */
  readonly wireBytes: LoadResult['wireBytes']
  readonly rounds: readonly Round[]
  /** CPU microseconds per unit of each run before the rounds, in their order. */
  readonly warmUpCpuMicros: readonly number[]
}

export interface Figures {
  readonly name: string
  readonly unit: Unit
  readonly requestsPerRound: number
  readonly sides: readonly Side[]
  /** Guests that could not do the work, and why. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[]
}

/** Someone to measure: ours first, others beside it. */
export interface Contender {
  readonly name: string
  readonly meter: Meter
  /** Another server, whose failure is its own: the rest is measured all the same. */
  readonly isGuest: boolean
  readonly setUp: () => Promise<void>
  readonly run: (requests: number, ready: () => Promise<void>) => Promise<LoadResult>
}

interface Entrant {
  readonly contender: Contender
  readonly rounds: Round[]
  warmUpCpuMicros: readonly number[]
  wireBytes: LoadResult['wireBytes']
  failure: string | undefined
}

export const serverContender = (name: string, subject: RateCase, server: Server, isGuest: boolean): Contender => ({
  name,
  meter: server,
  isGuest,
  setUp: async () => {
    try {
      await subject.setUp?.(server)
    } catch (cause) {
      if (isGuest) throw cause
      throw new Error(`${name}: ${reasonOf(cause)}`, { cause })
    }
  },
  run: (requests, ready) => subject.run(server, requests, ready),
})

export const limitContender = (limit: Limit, subject: RateCase, bare: Server): Contender => ({
  name: limit.name,
  meter: limit.usesBare ? bare : ownMeter,
  isGuest: false,
  setUp: async () => (limit.configure === undefined ? undefined : subject.setUp?.(bare)),
  run: (requests, ready) => limit.run(bare, requests, ready),
})

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Alternates all sides, each of them warm, so that what disturbs the machine disturbs each of them. */
export const measure = async (
  subject: RateCase,
  contenders: readonly Contender[],
  { rounds, pace }: { readonly rounds: number; readonly pace: Pace },
): Promise<Figures> => {
  const entrants = contenders.map(
    (contender): Entrant => ({
      contender,
      rounds: [],
      warmUpCpuMicros: [],
      wireBytes: undefined,
      failure: undefined,
    }),
  )
  for (const entrant of entrants) await attempt(entrant, ({ setUp }) => setUp())
  let requests = subject.requests.least
  for (const [index, entrant] of entrants.entries()) {
    await attempt(entrant, async (contender) => {
      const { fitting, cpuMicros } = await warmUp((count) => clocked(contender, subject, count), subject.requests, pace)
      if (index === 0) requests = fitting
      entrant.warmUpCpuMicros = cpuMicros
    })
  }
  for (let round = 0; round < rounds; round++) {
    for (const entrant of entrants) {
      await attempt(entrant, async (contender) => {
        const { seconds: _, wireBytes, ...one } = await clocked(contender, subject, requests)
        entrant.rounds.push(one)
        entrant.wireBytes = wireBytes
      })
    }
  }
  const [ours] = entrants
  const whole = entrants.filter(({ failure }) => failure === undefined)
  return {
    name: subject.name,
    unit: subject.unit,
    requestsPerRound: requests,
    sides: whole.map((entrant) => sideOf(entrant, entrant === ours ? [] : (ours?.rounds ?? []))),
    failures: entrants.flatMap(({ contender: { name }, failure }) =>
      failure === undefined ? [] : [{ name, reason: failure }],
    ),
  }
}

const attempt = async (entrant: Entrant, work: (contender: Contender) => Promise<void>): Promise<void> => {
  if (entrant.failure !== undefined) return
  try {
    await work(entrant.contender)
  } catch (error) {
    if (!entrant.contender.isGuest) throw error
    entrant.failure = reasonOf(error)
  }
}

const clocked = async (
  { meter, run }: Contender,
  subject: RateCase,
  count: number,
): Promise<Round & { readonly seconds: number; readonly wireBytes: LoadResult['wireBytes'] }> => {
  await meter.begin()
  const { seconds, requests, latenciesMs, cpuMicros: elsewhere, wireBytes } = await run(count, () => meter.begin())
  const { cpuMicros: metered, peakResidentBytes, loopDelay } = await meter.end()
  const units = requests * subject.unitsPerRequest
  return {
    rate: units / seconds,
    cpuMicros: (elsewhere ?? metered) / units,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    peakResidentBytes,
    loopDelay,
    seconds,
    wireBytes,
  }
}

const sideOf = ({ contender, rounds, warmUpCpuMicros, wireBytes }: Entrant, ours: readonly Round[]): Side => {
  const delays = rounds.flatMap(({ loopDelay }) => loopDelay ?? [])
  const ratios = ours.map((round, index) => round.rate / (rounds[index]?.rate ?? Number.NaN))
  return {
    name: contender.name,
    rate: spreadOf(rounds.map(({ rate }) => rate)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
    peakResidentBytes: Math.max(...rounds.map(({ peakResidentBytes }) => peakResidentBytes)),
    loopDelay:
      delays.length === 0
        ? undefined
        : { p99Ms: median(delays.map(({ p99Ms }) => p99Ms)), maxMs: Math.max(...delays.map(({ maxMs }) => maxMs)) },
    ratio: ratios.length === 0 ? undefined : spreadOf(ratios),
    wireBytes,
    rounds,
    warmUpCpuMicros,
  }
}
