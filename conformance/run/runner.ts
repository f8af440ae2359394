import type { Candidate, Need } from '../exam/candidate.js'
import { Exam, type TranscriptLine } from '../exam/exam.js'
import { Divergence, Lateness, NotApplicable, Refusal, WrongAnswer } from '../exam/finding.js'
import type { Check, Level, Requirement } from '../requirements/check.js'
import { readingsOf } from '../requirements/profiles.js'
import { requirements } from '../requirements/requirements.js'
import { type OutageSettings, Outages } from './outages.js'
import type { Result, Verdict } from './result.js'
import { sweeper } from './sweeper.js'

export type { Result, Verdict }

export interface RunSettings extends OutageSettings {
  readonly concurrency: number
  /** What the candidate offers; a check that needs more is skipped with a reason. */
  missing(need: Need): string | undefined
  onResult(result: Result): void
  /** Whether a finding that may come from a slow machine is reported only if the row, run again alone, has it again. */
  readonly asksLateAgain?: boolean
}

const DEADLINE_MS = 30_000

/**
 * Runs every check against the candidate, a bounded number at a time.
 *
 * - Checks that must wait for seconds start first and run beside the others. Bulky checks run one at a time. Checks
 * that must run alone come last.
 * - When the server goes away, the run waits for it. The checks in flight then run again, one at a time, so that none
 * is blamed for another.
 * - Checks with a late answer run again at the end, alone.
 * - When the candidate's patience is exhausted, checks in flight end as unanswered and the rest is skipped with the
 * reason.
 */
export const runChecks = async (
  checks: readonly Check[],
  candidate: Candidate,
  settings: RunSettings,
): Promise<Result[]> => {
  const results = new Array<Result>(checks.length)
  const outages = new Outages(candidate, settings)
  const sweep = sweeper()
  const late: { readonly check: Check; readonly index: number }[] = []
  const judge = (check: Check): Promise<Result> => outages.take(() => new Sitting(check, candidate, settings))
  const tell = (result: Result, index: number): void => {
    results[index] = result
    sweep()
    settings.onResult(result)
  }
  const take = async (check: Check, index: number): Promise<void> => {
    const result = await judge(check)
    if (result.isLate && settings.asksLateAgain && candidate.patience.reason === undefined) late.push({ check, index })
    else tell(result, index)
  }
  const order = checks.map((check, index) => ({ check, index }))
  const waiting = order.filter(({ check }) => check.waitsFor !== undefined)
  const alone = order.filter(({ check }) => check.isAlone === true)
  const rest = order.filter(({ check }) => check.waitsFor === undefined && check.isAlone !== true)
  const bulky = rest.filter(({ check }) => check.isBulky === true)
  const others = rest.filter(({ check }) => check.isBulky !== true)
  const lane = async (queue: typeof order): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await take(next.check, next.index)
  }
  await Promise.all([
    ...waiting.map(({ check, index }) => take(check, index)),
    lane(bulky),
    ...Array.from({ length: settings.concurrency }, () => lane(others)),
  ])
  await lane(alone)
  for (const { check, index } of late) tell(inTimeAlone(await judge(check)), index)
  return foldUnimplemented(results, candidate.answered)
}

/** For a row that ran again alone, after a late answer beside other rows. */
const inTimeAlone = (result: Result): Result => {
  if (result.verdict !== 'pass' && result.verdict !== 'chosen') return result
  const told = 'an answer was late beside other rows, and in time when this row ran alone'
  return { ...result, reason: result.reason === '' ? told : `${result.reason}; ${told}` }
}

/**
 * A missing method is one finding, reported by the first row that requires it; other rows are skipped. A method that
 * answers other calls exists, and rejects this request.
 */
const foldUnimplemented = (results: readonly Result[], answered: ReadonlySet<string>): Result[] => {
  const first = new Map<string, Result>()
  for (const result of results) {
    if (result.unimplemented === undefined || answered.has(result.unimplemented)) continue
    const known = first.get(result.unimplemented)
    if (known === undefined || (known.verdict !== 'fail' && result.verdict === 'fail'))
      first.set(result.unimplemented, result)
  }
  return results.map((result) => {
    const told = first.get(result.unimplemented ?? '')
    if (told === undefined || result.unimplemented === undefined) return result
    if (told === result) return { ...result, reason: `${result.unimplemented} is not implemented (${result.reason})` }
    return {
      ...result,
      verdict: 'skip',
      reason: `${result.unimplemented} is not implemented; see ${told.requirement.id}`,
    }
  })
}

/** One run of one check. */
export class Sitting {
  /** The server did not answer, or was away. */
  gotNoAnswer = false
  /** The connection broke during the check, or could not be opened. */
  lostConnection = false
  /** The check has a finding. */
  hasDiverged = false
  readonly check: Check
  readonly #exam: Exam
  readonly #requirement: Requirement
  readonly #settings: RunSettings
  readonly #startMs = performance.now()

  constructor(check: Check, candidate: Candidate, settings: RunSettings) {
    const requirement = check.requirement ?? requirements.get(check.id)
    if (requirement === undefined) throw new Error(`check ${check.id} has no row in the table of requirements`)
    this.check = check
    this.#requirement = requirement
    this.#settings = settings
    this.#exam = new Exam(candidate, check.id)
  }

  /** The last calls, including those in flight. */
  get lastCalls(): readonly TranscriptLine[] {
    return this.#exam.transcript.slice(-3)
  }

  result(verdict: Verdict, reason: string, unimplemented?: string): Result {
    const observations = Object.fromEntries(this.#exam.observations)
    return {
      requirement: this.#requirement,
      sends: this.check.sends,
      verdict,
      reason,
      ...(unimplemented === undefined ? {} : { unimplemented }),
      observations,
      readings: readingsOf(this.check.id, observations),
      transcript: this.#exam.transcript,
      elapsedMs: performance.now() - this.#startMs,
    }
  }

  /** By what was found, not by the row alone: silent loss fails anywhere, and a lawful refusal warns anywhere. */
  #weighed(level: Level, error: Divergence): { readonly verdict: Verdict; readonly why: string } {
    const verdict = verdictOf(level)
    if (error instanceof WrongAnswer && verdict !== 'fail')
      return { verdict: 'fail', why: `; the row is ${level}, and an answer that is not true fails in any` }
    if (!(error instanceof Refusal) || verdict !== 'fail') return { verdict, why: '' }
    const lawful =
      error.unimplemented === undefined ? this.check.mayRefuse : (this.check.mayLack ?? this.check.mayRefuse)
    const why = isShortage(error) ? 'any call may be refused for want of space or quota' : lawful
    return why === undefined ? { verdict, why: '' } : { verdict: 'warn', why: `; a refusal warns: ${why}` }
  }

  async judge(): Promise<Result> {
    const { level } = this.#requirement
    const lacking = (this.check.needs ?? [])
      .map((need) => this.#settings.missing(need))
      .find((why) => why !== undefined)
    if (lacking !== undefined) return this.result('skip', lacking)
    try {
      const { patience } = this.#exam.candidate
      const deadlineMs = patience.scaledMs(this.check.deadlineMs ?? DEADLINE_MS)
      await withDeadline(this.check.run(this.#exam), deadlineMs, patience.signal)
      return this.result(level === 'may' ? 'chosen' : 'pass', this.#exam.choices.join('; '))
    } catch (error) {
      if (error instanceof NotApplicable) return this.result('skip', error.message)
      if (error instanceof Divergence) {
        this.hasDiverged = true
        this.lostConnection = this.#exam.lostConnection
        this.gotNoAnswer =
          this.lostConnection || error instanceof Silence || /UNAVAILABLE|DEADLINE_EXCEEDED/.test(error.found)
        const isLate = error instanceof Silence || error instanceof Lateness || this.#exam.ranOutOfTime
        const { verdict, why } = this.#weighed(level, error)
        return { ...this.result(verdict, `${error.message}${why}`, error.unimplemented), isLate }
      }
      // An error of the suite must neither look like a finding nor end the run.
      return this.result('broken', error instanceof Error ? `${error.name}: ${error.message}` : String(error))
    } finally {
      await this.#exam.close()
    }
  }
}

/** Errors with which a server may refuse anything: out of space or quota, says code.proto, of any call. */
const isShortage = ({ found }: Divergence): boolean => found.startsWith('RESOURCE_EXHAUSTED')

const verdictOf = (level: Level): Verdict => {
  if (level === 'must') return 'fail'
  return level === 'may' ? 'chosen' : 'warn'
}

class Silence extends Divergence {}

const withDeadline = async (work: Promise<void>, deadlineMs: number, over: AbortSignal): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  let stop = (): void => {}
  const late = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Silence(`an answer within ${deadlineMs} ms`, 'none: the server did not answer'))
    timer = setTimeout(give, deadlineMs)
    stop = () => reject(new Silence('an answer', `none when the run ended: ${over.reason}`))
    over.addEventListener('abort', stop)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    over.removeEventListener('abort', stop)
    // Closing the calls ends the abandoned check; its error has no listener any more.
    work.catch(() => {})
  }
}
