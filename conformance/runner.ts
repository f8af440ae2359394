import { type Check, Divergence, type Level, type Need, NotApplicable, type Requirement } from './check.js'
import { type Candidate, Exam, type TranscriptLine } from './exam.js'
import { requirements } from './requirements.js'

/** `chosen` is the verdict on a `may`: whatever the server did is its right, and is recorded. */
export type Verdict = 'pass' | 'fail' | 'warn' | 'chosen' | 'skip'

export interface Result {
  readonly requirement: Requirement
  readonly sends: string
  readonly verdict: Verdict
  /** Why it failed, warned or was skipped; what the server chose. */
  readonly reason: string
  readonly transcript: readonly TranscriptLine[]
  readonly elapsedMs: number
}

export interface RunSettings {
  readonly concurrency: number
  /** What the candidate offers; a check that needs more is skipped with the reason. */
  missing(need: Need): string | undefined
  onResult(result: Result): void
}

const DEADLINE_MS = 10_000

/** Runs every check against the candidate, a bounded number at a time; the long ones start first. */
export const runChecks = async (
  checks: readonly Check[],
  candidate: Candidate,
  settings: RunSettings,
): Promise<Result[]> => {
  const results = new Array<Result>(checks.length)
  const order = checks.map((check, index) => ({ check, index }))
  order.sort((a, b) => (b.check.deadlineMs ?? 0) - (a.check.deadlineMs ?? 0))
  const lane = async (): Promise<void> => {
    for (let next = order.shift(); next !== undefined; next = order.shift()) {
      const result = await judge(next.check, candidate, settings)
      results[next.index] = result
      settings.onResult(result)
    }
  }
  await Promise.all(Array.from({ length: settings.concurrency }, lane))
  return results
}

const judge = async (check: Check, candidate: Candidate, settings: RunSettings): Promise<Result> => {
  const requirement = requirements.get(check.id)
  if (requirement === undefined) throw new Error(`check ${check.id} has no row in the table of requirements`)
  const startMs = performance.now()
  const exam = new Exam(candidate)
  const say = (verdict: Verdict, reason: string): Result => ({
    requirement,
    sends: check.sends,
    verdict,
    reason,
    transcript: exam.transcript,
    elapsedMs: performance.now() - startMs,
  })
  const lacking = (check.needs ?? []).map((need) => settings.missing(need)).find((reason) => reason !== undefined)
  if (lacking !== undefined) return say('skip', lacking)
  try {
    await withDeadline(check.run(exam), check.deadlineMs ?? DEADLINE_MS)
    return say(requirement.level === 'may' ? 'chosen' : 'pass', exam.choices.join('; '))
  } catch (error) {
    if (error instanceof NotApplicable) return say('skip', error.message)
    // Anything else is a slip of the suite's own and must not pass for a finding about the server.
    if (!(error instanceof Divergence)) throw error
    return say(verdictOf(requirement.level), error.message)
  } finally {
    exam.close()
  }
}

const verdictOf = (level: Level): Verdict => {
  if (level === 'must') return 'fail'
  return level === 'may' ? 'chosen' : 'warn'
}

const withDeadline = async (work: Promise<void>, deadlineMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Divergence(`an answer within ${deadlineMs} ms`, 'none: the server kept silent'))
    timer = setTimeout(give, deadlineMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
