import type { RequestRecord } from '../rpc/request-records.js'
import type { ExplainedMiss } from './cause.js'
import type { TreeChange } from './tree-difference.js'
import { causeText, changeText } from './words.js'

/** What groups need of an explained miss: a build may have 16,000. */
export interface FoldedMiss {
  readonly miss: RequestRecord
  /** The cause in one line. */
  readonly text: string
  /** That of its group, unless the inputs decide it. */
  readonly groupText: string
  readonly outputs: readonly string[]
  /** The build that it is compared with, or that had the result last; empty if there is none. */
  readonly earlierInvocation: string
  /** The inputs that differ, if these are the first difference and known. */
  readonly inputs: ChangedInputs | undefined
}

interface ChangedInputs {
  readonly paths: readonly string[]
  /** What happened to each, in words. */
  readonly words: readonly string[]
  /** Whether these are all. */
  readonly isComplete: boolean
}

/** Misses with one cause. */
export interface CauseGroup {
  /** The cause in one line. */
  readonly text: string
  readonly misses: readonly FoldedMiss[]
  /** The build that most of them are compared with, or that had the result last; empty if there is none. */
  readonly earlierInvocation: string
  /** Whether other misses are the cause: only inputs differ, and all of those are outputs of missed actions. */
  readonly isConsequence: boolean
}

const MAX_OUTPUTS = 200

/** Folds explained misses. Texts that many of them have are kept once. */
export class Folder {
  readonly #texts = new Map<string, string>()

  fold({ miss, cause, outputs }: ExplainedMiss): FoldedMiss {
    const first = cause.kind === 'different' ? cause.differences[0] : undefined
    const tree = first?.kind === 'inputs' ? first.tree : undefined
    return {
      miss,
      text: this.#once(causeText(cause)),
      // Which output is gone belongs to one action.
      groupText: this.#once(cause.kind === 'output gone' ? 'output gone' : causeText(cause)),
      outputs: outputs.slice(0, MAX_OUTPUTS).map((path) => this.#once(path)),
      earlierInvocation: this.#once(earlierOf(cause)),
      inputs: tree && tree.changes.length > 0 ? this.#inputs(tree.changes, tree.isComplete) : undefined,
    }
  }

  #inputs(changes: readonly TreeChange[], isComplete: boolean): ChangedInputs {
    return {
      paths: changes.map(({ path }) => this.#once(path)),
      words: changes.map((change) => this.#once(changeText(change))),
      isComplete,
    }
  }

  #once(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }
}

/** Misses grouped by their first cause: causes of their own first, then those of most misses. */
export const groupByCause = (misses: readonly FoldedMiss[]): readonly CauseGroup[] => {
  const made = new Set(misses.flatMap(({ outputs }) => outputs))
  const groups = new Map<string, { readonly text: string; readonly isConsequence: boolean; misses: FoldedMiss[] }>()
  for (const miss of misses) {
    const { text, isConsequence } = causeOf(miss, made)
    const group = groups.get(text) ?? { text, isConsequence, misses: [] }
    group.misses.push(miss)
    groups.set(text, group)
  }
  return [...groups.values()]
    .map((group) => ({ ...group, earlierInvocation: mostFrequent(group.misses) }))
    .sort((a, b) => Number(a.isConsequence) - Number(b.isConsequence) || b.misses.length - a.misses.length)
}

const causeOf = ({ groupText, inputs }: FoldedMiss, made: ReadonlySet<string>) => {
  if (inputs === undefined) return { text: groupText, isConsequence: false }
  const source = inputs.paths.findIndex((path) => !isMade(path, made))
  if (source >= 0) return { text: `input ${inputs.words[source]}`, isConsequence: false }
  return { text: 'inputs that other misses of this build made differ', isConsequence: inputs.isComplete }
}

/** Whether a path is an output or inside of one. */
const isMade = (path: string, made: ReadonlySet<string>): boolean => {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (made.has(path.slice(0, end))) return true
  return false
}

const earlierOf = (cause: ExplainedMiss['cause']): string => {
  if (cause.kind === 'different') return cause.earlier.invocation
  return cause.kind === 'evicted' || cause.kind === 'never written' ? cause.last.invocation : ''
}

const mostFrequent = (misses: readonly FoldedMiss[]): string => {
  const counts = new Map<string, number>()
  for (const { earlierInvocation } of misses)
    if (earlierInvocation !== '') counts.set(earlierInvocation, (counts.get(earlierInvocation) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}
