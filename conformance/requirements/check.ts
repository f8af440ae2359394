import type { Need } from '../exam/candidate.js'
import type { Exam } from '../exam/exam.js'

/**
 * The weight of a requirement. A broken `must` fails the server, because the text leaves no choice. `should` and `de
 * facto` warn; `may` records the server's choice.
 */
export type Level = 'must' | 'should' | 'may' | 'de facto'

/** One row of `conformance/requirements/requirements.tsv`. */
export interface Requirement {
  readonly id: string
  readonly section: string
  readonly rpc: string
  readonly level: Level
  readonly requirement: string
  /** The accepted answers, in short. */
  readonly expected: string
  /**
   * The source as file, message or field, and its statement; or a note that no text says it, and which clients rely on
   * it.
   */
  readonly source: string
}

export interface Check {
  /** The requirement that the check observes. */
  readonly id: string
  /** The requirement itself, if the table does not have it. */
  readonly requirement?: Requirement
  /** One sentence: what is sent, and what is expected back. */
  readonly sends: string
  readonly needs?: readonly Need[]
  /** Moves many bytes: only one such check runs at a time, which bounds load and memory. */
  readonly isBulky?: boolean
  /**
   * Runs without other checks, after them, one at a time. Reasons: it opens a hundred calls at once, which a server may
   * bound, or it must not queue behind the actions of other checks.
   */
  readonly isAlone?: boolean
  /**
   * Why the text lets a server refuse what the check sends, though the row is a must: a refusal warns, a wrong answer
   * fails.
   */
  readonly mayRefuse?: string
  /** Why the text lets a server answer UNIMPLEMENTED, likewise. */
  readonly mayLack?: string
  /** Runs after everything else, sessions too: it fills the store, which may then refuse uploads. */
  readonly fillsStore?: boolean
  /**
   * After this time the server counts as not answering. Default 30 s: a check takes a second or two on an idle server.
   */
  readonly deadlineMs?: number
  /** Why the check takes seconds on any server: such checks start first and take no lane from others. */
  readonly waitsFor?: string
  /**
   * Throws a Divergence if the server does not meet the requirement. `exam.chose(...)` records the server's choice
   * where it has one.
   */
  run(exam: Exam): Promise<void>
}
