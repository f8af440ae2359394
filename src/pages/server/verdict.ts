import { counted } from '../../base/quantities.js'
import { causesIn } from '../../health/causes.js'
import type { Answer } from '../../health/registry.js'
import { isBroken, reasonOf, stateOf } from '../../health/report.js'
import type { Tone } from '../parts/small.js'
import type { Overviews } from './sources.js'

export interface Verdict {
  readonly word: string
  readonly sign: string
  readonly tone: Tone
  /** What to look at, worst first. */
  readonly reasons: readonly string[]
}

/** One word for the whole process, and the reasons for it. */
export const verdictOf = (answers: readonly Answer[], overviews: Overviews): Verdict => {
  const stuck = stuckActions(overviews)
  const troubled = byUrgency(answers)
    .map(({ report }) => report)
    // The line about its actions says more.
    .filter((report) => stateOf(report) !== 'Ok' && !stuck.has(report.component))
  const reasons = causesIn(troubled).map(({ report, outermost }) => {
    const { reason = '' } = reasonOf(report)
    const so = outermost === undefined ? '' : ` (and so ${outermost.component})`
    return `${report.component}${so}: ${reason === '' ? stateOf(report) : reason}`
  })
  const states = answers.map(({ report }) => stateOf(report))
  const all = [...reasons, ...stuck.values()]
  if (states.some(isBroken)) return { word: 'not healthy', sign: '✗', tone: 'bad', reasons: all }
  if (states.includes('Warning') || stuck.size > 0) return { word: 'degraded', sign: '◐', tone: 'warn', reasons: all }
  if (states.includes('Initializing')) return { word: 'starting', sign: '○', tone: 'warn', reasons: all }
  return { word: 'healthy', sign: '✓', tone: 'good', reasons: [] }
}

/** By the component of the scheduler, why actions wait that no connected worker can run. */
const stuckActions = (overviews: Overviews): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [scheduler, overview] of overviews()) {
    const stuck = overview.stuck()
    const component = `scheduler/${scheduler}`
    if (stuck !== undefined) found.set(component, `${component}: ${actions(stuck.count)}: ${stuck.reason}`)
  }
  return found
}

const actions = (count: number): string => `${counted(count, 'action')} ${count === 1 ? 'waits' : 'wait'}`

const URGENCY = ['Failed', 'Timeout', 'Warning', 'Initializing', 'Ok'] as const

/** Failed components first. */
export const byUrgency = (answers: readonly Answer[]): readonly Answer[] => {
  const rank = ({ report }: Answer): number => URGENCY.indexOf(stateOf(report))
  return [...answers].sort((a, b) => rank(a) - rank(b))
}
