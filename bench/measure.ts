import type { Limit, RateCase, Unit } from './case.js'
import type { LoadResult } from './load/request.js'
import type { Server, ServerProcess } from './server/process.js'
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
  /** CPU microseconds per unit of each run before the rounds, in their order, one process after another. */
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
  /** Undefined of a server that is not ours to look into, and of work without one. */
  readonly collect?: (() => Promise<void>) | undefined
  readonly run: (requests: number, ready: () => Promise<void>) => Promise<LoadResult>
}

interface Entrant {
  readonly name: string
  readonly isGuest: boolean
  readonly rounds: Round[]
  readonly warmUpCpuMicros: number[]
  wireBytes: LoadResult['wireBytes']
  failure: string | undefined
}

export const serverContender = (
  name: string,
  subject: RateCase,
  server: Server & Partial<Pick<ServerProcess, 'collect'>>,
  isGuest: boolean,
): Contender => ({
  name,
  meter: server,
  isGuest,
  collect: server.collect?.bind(server),
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

/** Starts all sides, ours first. With several of these each one measures processes of its own. */
export type Lineup = () => Promise<readonly Contender[]>

/**
 * Alternates all sides, each of them warm, so that what disturbs the machine disturbs each of them. From round to round
 * and from lineup to lineup the order turns round: whoever goes first has the caches and the clock of what went before.
 */
export const measure = async (
  subject: RateCase,
  lineups: readonly Lineup[],
  { rounds, pace }: { readonly rounds: number; readonly pace: Pace },
): Promise<Figures> => {
  const entrants: Entrant[] = []
  let requests: number | undefined
  for (const [index, start] of lineups.entries()) {
    const sides = (await start()).map((contender, place) => {
      const { name, isGuest } = contender
      entrants[place] ??= { name, isGuest, rounds: [], warmUpCpuMicros: [], wireBytes: undefined, failure: undefined }
      return { contender, entrant: entrants[place] }
    })
    const inTurn = (turn: number): typeof sides => (turn % 2 === 0 ? sides : sides.toReversed())
    for (const { entrant, contender } of sides) await attempt(entrant, () => contender.setUp())
    for (const { entrant, contender } of inTurn(index)) {
      const warm = async (): Promise<number> => {
        const { fitting, cpuMicros } = await warmUp((n) => clocked(contender, subject, n), subject.requests, pace)
        entrant.warmUpCpuMicros.push(...cpuMicros)
        return fitting
      }
      await attempt(entrant, async () => {
        const fitting = await warm()
        requests ??= fitting
        if (pace.isCollecting && contender.collect) await contender.collect().then(warm)
      })
    }
    for (let round = 0; round < rounds; round++) {
      for (const { entrant, contender } of inTurn(index + round)) {
        await attempt(entrant, async () => {
          const {
            seconds: _,
            wireBytes,
            ...one
          } = await clocked(contender, subject, requests ?? subject.requests.least)
          entrant.rounds.push(one)
          entrant.wireBytes = wireBytes
        })
      }
    }
  }
  const [ours] = entrants
  const whole = entrants.filter(({ failure }) => failure === undefined)
  return {
    name: subject.name,
    unit: subject.unit,
    requestsPerRound: requests ?? subject.requests.least,
    sides: whole.map((entrant) => sideOf(entrant, entrant === ours ? [] : (ours?.rounds ?? []))),
    failures: entrants.flatMap(({ name, failure }) => (failure === undefined ? [] : [{ name, reason: failure }])),
  }
}

const attempt = async (entrant: Entrant, work: () => Promise<void>): Promise<void> => {
  if (entrant.failure !== undefined) return
  try {
    await work()
  } catch (error) {
    if (!entrant.isGuest) throw error
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

const sideOf = ({ name, rounds, warmUpCpuMicros, wireBytes }: Entrant, ours: readonly Round[]): Side => {
  const delays = rounds.flatMap(({ loopDelay }) => loopDelay ?? [])
  const ratios = ours.map((round, index) => round.rate / (rounds[index]?.rate ?? Number.NaN))
  return {
    name,
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
