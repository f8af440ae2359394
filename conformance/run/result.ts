import type { Observed, TranscriptLine } from '../exam/exam.js'
import type { Requirement } from '../requirements/check.js'
import type { Reading } from '../requirements/profiles.js'

/**
 * `chosen` is the verdict on a `may`: whatever the server did is its right, and is recorded. `crash` is that of the row under
 * which the server went away, whatever the row's level. `broken` is a slip of the suite's own, which says nothing about the
 * server. `known` diverges as the expectations say; `surprise` is listed there and holds all the same.
 */
export type Verdict = 'pass' | 'fail' | 'crash' | 'warn' | 'chosen' | 'skip' | 'known' | 'surprise' | 'broken'

export interface Result {
  readonly requirement: Requirement
  readonly sends: string
  readonly verdict: Verdict
  /** Why it failed, warned or was skipped; what the server chose. */
  readonly reason: string
  /** The method that the server does not implement, when that is all there is to say. */
  readonly unimplemented?: string | undefined
  /** What diverged is, or may be, that an answer did not come in time. */
  readonly isLate?: boolean | undefined
  readonly observations: Readonly<Record<string, Observed>>
  /** What clients make of the observations. */
  readonly readings: readonly Reading[]
  readonly transcript: readonly TranscriptLine[]
  readonly elapsedMs: number
}
