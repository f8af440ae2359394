/** How long runs are, and how long one side of a case is driven before it counts as warm. */
export interface Pace {
  /** A measured run is about as long. */
  readonly runMs: number
  /** Whether a server is warmed up a second time, after V8 has collected its whole heap. */
  readonly isCollecting?: boolean
  readonly warmUp: {
    /** One run of the warm-up is about as long. */
    readonly runMs: number
    /** Minimum time of a run. */
    readonly leastMs: number
    /** No further run begins after this time, or after three times as long including preparation. */
    readonly mostMs: number
  }
}

export const quickPace: Pace = { runMs: 300, warmUp: { runMs: 250, leastMs: 500, mostMs: 4_000 } }
export const usualPace: Pace = { runMs: 1_500, warmUp: { runMs: 500, leastMs: 1_500, mostMs: 12_000 } }

/**
 * Two builds are compared when both are warm, however short their rounds. V8 goes on compiling for seconds: that with more
 * code is behind by a tenth after one and a half, which is gone after four. V8's first collection of the whole heap discards the
 * code of functions that were compiled for objects of the start: 85 functions, a second of CPU. It comes sooner in one build than in
 * another.
 */
const comparisonWarmUp: Pace['warmUp'] = { ...usualPace.warmUp, leastMs: 3_000 }

export const paceOf = ({ isQuick, isAgainst }: { readonly isQuick: boolean; readonly isAgainst: boolean }): Pace => {
  const pace = isQuick ? quickPace : usualPace
  return isAgainst ? { ...pace, isCollecting: true, warmUp: comparisonWarmUp } : pace
}

/** A run that costs less by this factor than the best before shows that compiling is still under way. */
const FALLING = 0.97
const PREPARING = 3
/** However many requests a warm-up is to have, it is over then. */
const LONGEST_MS = 60_000
/** Runs in a row that did not fall. */
const STEADY_RUNS = 2

interface Run {
  readonly seconds: number
  readonly cpuMicros: number
}

/**
 * Drives a server until the CPU of an operation stops falling: V8 compiles a path after thousands of calls, and figures
 * from before tell of the compiler. Also finds how many requests make a run of `pace.runMs`.
 */
export const warmUp = async (
  run: (requests: number) => Promise<Run>,
  { least, most, warm = 0 }: { readonly least: number; readonly most: number; readonly warm?: number },
  pace: Pace,
): Promise<{ readonly fitting: number; readonly cpuMicros: readonly number[] }> => {
  const { runMs, leastMs, mostMs } = pace.warmUp
  const within = (requests: number): number => Math.min(most, Math.max(least, Math.round(requests)))
  const startMs = performance.now()
  const cpuMicros: number[] = []
  let requests = least
  let driven = 0
  let drivenMs = 0
  let best = Number.POSITIVE_INFINITY
  for (let steady = 0; ; ) {
    const { seconds, cpuMicros: micros } = await run(requests)
    cpuMicros.push(micros)
    driven += requests
    drivenMs += seconds * 1000
    // Of a server whose CPU cannot be seen, time is what is left.
    const cost = Number.isNaN(micros) ? seconds / requests : micros
    steady = cost < best * FALLING ? 0 : steady + 1
    best = Math.min(best, cost)
    const perMs = requests / (seconds * 1000)
    const isWarm = steady >= STEADY_RUNS && drivenMs >= leastMs && driven >= warm
    const elapsedMs = performance.now() - startMs
    const isOver = drivenMs >= mostMs || elapsedMs >= PREPARING * mostMs
    const isLongEnough = driven >= warm || drivenMs >= LONGEST_MS || elapsedMs >= LONGEST_MS
    if (isWarm || (isOver && isLongEnough)) return { fitting: within(perMs * pace.runMs), cpuMicros }
    // A first run, cold, says little about how many will do.
    requests = Math.min(within(perMs * runMs), requests * 8)
  }
}
