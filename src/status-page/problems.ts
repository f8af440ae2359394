import { countText, timeText } from '../base/quantities.js'
import type { Answer } from '../health/registry.js'
import { isBroken, reasonOf, stateOf } from '../health/report.js'
import { code, escaped, type Html, mark, type Tone, table } from './html.js'
import type { StatusPageParts } from './parts.js'

const MAX_REASONS = 8

interface Verdict {
  readonly word: string
  readonly tone: Tone
  /** What to look at, worst first. */
  readonly reasons: readonly string[]
}

/** One word for the whole process, and the reasons for it. */
const verdict = (answers: readonly Answer[], parts: StatusPageParts): Verdict => {
  const sorted = byUrgency(answers)
  const stuck = stuckActions(parts)
  const reasons = sorted.flatMap(({ report }) => {
    const state = stateOf(report)
    // The line about its actions says more.
    if (state === 'Ok' || stuck.has(report.component)) return []
    const { reason = '' } = reasonOf(report)
    return [`${report.component}: ${reason === '' ? state : reason}`]
  })
  const states = answers.map(({ report }) => stateOf(report))
  const all = [...reasons, ...stuck.values()]
  if (states.some(isBroken)) return { word: 'not healthy', tone: 'bad', reasons: all }
  if (states.includes('Warning') || stuck.size > 0) return { word: 'degraded', tone: 'warn', reasons: all }
  if (states.includes('Initializing')) return { word: 'starting', tone: 'warn', reasons: all }
  return { word: 'healthy', tone: 'good', reasons: [] }
}

/** By the component of the scheduler, why actions wait that no connected worker can run. */
const stuckActions = ({ overviews }: StatusPageParts): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [scheduler, { queue }] of overviews()) {
    const waiting = queue.filter(({ waitsFor }) => waitsFor.includes(NO_WORKER))
    const [first] = waiting
    const component = `scheduler/${scheduler}`
    if (first !== undefined) found.set(component, `${component}: ${actions(waiting.length)}: ${first.waitsFor}`)
  }
  return found
}

/** Of the reason why an action waits (`whyItWaits`). */
const NO_WORKER = 'no worker'

const actions = (count: number): string => (count === 1 ? '1 action waits' : `${countText(count)} actions wait`)

/** The badge, and below it what is wrong. */
export const badge = (answers: readonly Answer[], parts: StatusPageParts): { word: string; list: string } => {
  const { word, tone, reasons } = verdict(answers, parts)
  const shown = reasons.slice(0, MAX_REASONS)
  const more = reasons.length - shown.length
  const items = more === 0 ? shown : [...shown, `and ${more} more below`]
  const list = items.map((reason) => `<li>${escaped(reason)}</li>`).join('')
  return {
    word: `<span class="state ${tone}">${word}</span>`,
    list: list === '' ? '' : `<ul class="reasons ${tone}">${list}</ul>`,
  }
}

const URGENCY = ['Failed', 'Timeout', 'Warning', 'Initializing', 'Ok'] as const

const byUrgency = (answers: readonly Answer[]): readonly Answer[] => {
  const rank = ({ report }: Answer): number => URGENCY.indexOf(stateOf(report))
  return [...answers].sort((a, b) => rank(a) - rank(b))
}

/** Failed components first. */
export const components = (answers: readonly Answer[]): string =>
  table(
    ['Component', 'State', 'Checked', ''],
    byUrgency(answers).map(({ report, ageMs }) => {
      const { message = '', error = '' } = Object.values(report.status)[0] ?? {}
      const text = [message, error].filter((part) => part !== '').join(': ')
      return [code(report.component), stateMark(report), `${timeText(Math.floor(ageMs / 1000) * 1000)} ago`, text]
    }),
    'none',
  )

const stateMark = (report: Answer['report']): Html => {
  const state = stateOf(report)
  return mark(isBroken(state) ? 'bad' : state === 'Ok' ? 'good' : 'warn', state)
}
