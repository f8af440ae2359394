import type { Need } from '../exam/candidate.js'
import type { Exam } from '../exam/exam.js'

/**
 * What breaking a requirement means: a broken `must`, of which the text leaves no choice, fails the server; `should` and
 * `de facto` warn, and a `may` only records what the server chose.
 */
export type Level = 'must' | 'should' | 'may' | 'de facto'

/** One row of `conformance/requirements/requirements.tsv`. */
export interface Requirement {
  readonly id: string
  readonly section: string
  readonly rpc: string
  readonly level: Level
  readonly requirement: string
  /** What the check accepts, in short. */
  readonly expected: string
  /** The text it rests on, as file, message or field, and what is said there; or that no text says it, and who relies on it. */
  readonly source: string
}

export interface Check {
  /** The requirement it observes. */
  readonly id: string
  /** Where it is not one of the table. */
  readonly requirement?: Requirement
  /** One sentence: what is sent, and what is expected back. */
  readonly sends: string
  readonly needs?: readonly Need[]
  /** Moves so many bytes that only one such check runs at a time: the load stays bounded, and the memory. */
  readonly isBulky?: boolean
  /**
   * Has to be alone, or leave others alone: it opens a hundred calls at once, which a server may bound, or must not wait behind
   * the actions of its neighbours. Such checks run one after the other when all else is done.
   */
  readonly isAlone?: boolean
  /** The server is taken to keep silent after this. Default 30 s: a check takes a second or two on a server at rest. */
  readonly deadlineMs?: number
  /**
   * What the check has to wait for, when it takes seconds on any server: such checks start first and run beside the
   * others rather than in their place.
   */
  readonly waitsFor?: string
  /**
   * Throws a Divergence when the server does not meet the requirement. `exam.chose(...)` records what a server picked
   * where it is free to.
   */
  run(exam: Exam): Promise<void>
}
