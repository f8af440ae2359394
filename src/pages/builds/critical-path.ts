/** One step of the critical path, in order. */
export interface Step {
  readonly what: string
  readonly tookMs: number
  /** How the tool says that its remote part was spent; absent for a step that ran at the client. */
  readonly remote?: string
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }
/**
 * `  1.24s action 'Executing genrule //:g'`. A remote step has how its time was spent before the action:
 * `  2.09s, Remote (89.00% of the time): [queue: 1.00%, process: 88.00%] action '...'`.
 */
const STEP = /^\s+([\d.]+)(ms|s|m)(?:, Remote \(([^)]{0,40})\): \[([^\]]{0,300})\])? (?:action )?(.*)$/
const MAX_STEPS = 200
const MAX_WHAT = 300
const MAX_LINE = 1000

/** The steps in Bazel's log `critical path`, the first one first: Bazel prints them from the end. */
export const stepsIn = (text: string): Step[] => {
  const steps = text.split('\n').flatMap((line): Step[] => {
    const [, amount = '', unit = '', share, parts, what = ''] = STEP.exec(line.slice(0, MAX_LINE)) ?? []
    const tookMs = Number(amount) * (UNITS[unit] ?? Number.NaN)
    return Number.isFinite(tookMs) && what !== ''
      ? [
          {
            what: what.replace(/^'(.*)'$/, '$1').slice(0, MAX_WHAT),
            tookMs,
            ...(share !== undefined && { remote: `${share}: ${parts}` }),
          },
        ]
      : []
  })
  return steps.slice(0, MAX_STEPS).reverse()
}
