/** One step of the critical path, in order. */
export interface Step {
  readonly what: string
  readonly tookMs: number
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }
/** `  1.24s action 'Executing genrule //:g'`; some releases print the part that was remote behind it. */
const STEP = /^\s+([\d.]+)(ms|s|m) (?:action )?(.*)$/
const MAX_STEPS = 200
const MAX_WHAT = 300

/** The steps in Bazel's log `critical path`, the first one first: Bazel prints them from the end. */
export const stepsIn = (text: string): Step[] => {
  const steps = text.split('\n').flatMap((line): Step[] => {
    const [, amount = '', unit = '', what = ''] = STEP.exec(line) ?? []
    const tookMs = Number(amount) * (UNITS[unit] ?? Number.NaN)
    return Number.isFinite(tookMs) && what !== ''
      ? [{ what: what.replace(/^'(.*)'$/, '$1').slice(0, MAX_WHAT), tookMs }]
      : []
  })
  return steps.slice(0, MAX_STEPS).reverse()
}
