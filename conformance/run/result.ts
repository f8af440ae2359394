import type { Observed, TranscriptLine } from '../exam/exam.js'
import type { Requirement } from '../requirements/check.js'
import type { Reading } from '../requirements/profiles.js'

/**
 * `chosen` is the verdict on a `may`: any behaviour is allowed, and recorded. `crash` is the row that makes the server
 * go away, at any level. `broken` is an error of the suite and says nothing about the server. `known` diverges as
 * listed; `surprise` is listed and holds.
 */
export type Verdict = 'pass' | 'fail' | 'crash' | 'warn' | 'chosen' | 'skip' | 'known' | 'surprise' | 'broken'

/** Whether a row with this verdict speaks against the server. */
export const isObjection = ({ verdict }: Pick<Result, 'verdict'>): boolean => verdict === 'fail' || verdict === 'warn'

export interface Result {
  readonly requirement: Requirement
  readonly sends: string
  readonly verdict: Verdict
  /** Why the row failed, warned or was skipped, or what the server chose. */
  readonly reason: string
  /** The method that the server does not implement, if that is the whole finding. */
  readonly unimplemented?: string | undefined
  /** The divergence is, or may be, a late answer. */
  readonly isLate?: boolean | undefined
  readonly observations: Readonly<Record<string, Observed>>
  /** How clients react to the observations. */
  readonly readings: readonly Reading[]
  readonly transcript: readonly TranscriptLine[]
  readonly elapsedMs: number
}
