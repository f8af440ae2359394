import type { Difference } from './action-difference.js'
import type { ExplainedMiss } from './cause.js'
import { causeText, changeText } from './words.js'

/** Misses with one cause. */
export interface CauseGroup {
  /** The cause in one line. */
  readonly text: string
  readonly misses: readonly ExplainedMiss[]
  /** The build that most of them are compared with, or that had the result last; empty if there is none. */
  readonly earlierInvocation: string
  /** Whether other misses are the cause: only inputs differ, and all of those are outputs of missed actions. */
  readonly isConsequence: boolean
}

/** Misses grouped by their first cause: causes of their own first, then those of most misses. */
export const groupByCause = (misses: readonly ExplainedMiss[]): readonly CauseGroup[] => {
  const made = new Set(misses.flatMap(({ outputs }) => outputs))
  const groups = new Map<string, { readonly text: string; readonly isConsequence: boolean; misses: ExplainedMiss[] }>()
  for (const miss of misses) {
    const { text, isConsequence } = causeOf(miss, made)
    const group = groups.get(text) ?? { text, isConsequence, misses: [] }
    group.misses.push(miss)
    groups.set(text, group)
  }
  return [...groups.values()]
    .map((group) => ({ ...group, earlierInvocation: mostFrequent(group.misses.map(earlierOf)) }))
    .sort((a, b) => Number(a.isConsequence) - Number(b.isConsequence) || b.misses.length - a.misses.length)
}

const causeOf = ({ cause }: ExplainedMiss, made: ReadonlySet<string>) => {
  const own = { text: causeText(cause), isConsequence: false }
  if (cause.kind !== 'different') {
    // Which output is gone belongs to one action.
    return cause.kind === 'output gone' ? { ...own, text: 'output gone' } : own
  }
  const [first] = cause.differences
  return first.kind === 'inputs' ? ofInputs(first, made, own) : own
}

const ofInputs = (
  { tree }: Extract<Difference, { kind: 'inputs' }>,
  made: ReadonlySet<string>,
  own: { readonly text: string; readonly isConsequence: boolean },
) => {
  if (tree === undefined || tree.changes.length === 0) return own
  const [source] = tree.changes.filter(({ path }) => !isMade(path, made))
  if (source !== undefined) return { text: `input ${changeText(source)}`, isConsequence: false }
  return { text: 'inputs that other misses of this build made differ', isConsequence: tree.isComplete }
}

/** Whether a path is an output or inside of one. */
const isMade = (path: string, made: ReadonlySet<string>): boolean => {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (made.has(path.slice(0, end))) return true
  return false
}

const earlierOf = ({ cause }: ExplainedMiss): string => {
  if (cause.kind === 'different') return cause.earlier.invocation
  return cause.kind === 'evicted' || cause.kind === 'never written' ? cause.last.invocation : ''
}

const mostFrequent = (texts: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}
