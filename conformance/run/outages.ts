import type { Candidate } from '../exam/candidate.js'
import type { TranscriptLine } from '../exam/exam.js'
import type { Result, Verdict } from './result.js'

export interface OutageSettings {
  /** Called after a check that got no answer. */
  isAlive(): Promise<boolean>
  /** Waits for the server, or restarts it; false if it stays away, which ends the run. */
  comeBack?(): Promise<boolean>
  onCrash?(crash: Crash): void
}

/** One run of one check. */
export interface Sitting {
  readonly check: { readonly id: string }
  /** The server did not answer, or was away. */
  readonly gotNoAnswer: boolean
  /** The connection broke during the check, or could not be opened. */
  readonly lostConnection: boolean
  /** The check has a finding. If the server is away, the lost connection may be its cause. */
  readonly hasDiverged: boolean
  readonly lastCalls: readonly TranscriptLine[]
  judge(): Promise<Result>
  result(verdict: Verdict, reason: string): Result
}

/** A crash of the server in mid-run. */
export interface Crash {
  /** The row that crashes the server when run alone; undefined if none did. */
  readonly row: string | undefined
  /** The rows in flight at the crash. */
  readonly underWay: readonly string[]
  readonly lastCalls: readonly TranscriptLine[]
  readonly cameBack: boolean
}

const GONE = 'the server stopped answering in mid-run'

/** Runs checks while the server is there, and finds the check that makes it go away. */
export class Outages {
  readonly #candidate: Candidate
  readonly #settings: OutageSettings
  readonly #underWay = new Set<Promise<unknown>>()
  /** Checks that got no answer while the server was away. */
  #suspects: Suspect[] = []
  #outage: Promise<void> | undefined

  constructor(candidate: Candidate, settings: OutageSettings) {
    this.#candidate = candidate
    this.#settings = settings
  }

  async take(sit: () => Sitting): Promise<Result> {
    while (this.#outage !== undefined) await this.#outage
    const { patience } = this.#candidate
    if (patience.reason !== undefined) return sit().result('skip', patience.reason)
    const sitting = sit()
    const judged = sitting.judge()
    this.#underWay.add(judged)
    const result = await judged
    const isGone =
      patience.reason === undefined &&
      sitting.hasDiverged &&
      (this.#outage !== undefined || sitting.lostConnection || !(await this.#settings.isAlive()))
    this.#underWay.delete(judged)
    if (!isGone) return result
    return new Promise((settle) => {
      this.#suspects.push({ sit, sitting, result, settle })
      this.#outage ??= this.#recover().finally(() => {
        this.#outage = undefined
      })
    })
  }

  async #recover(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
    // Checks that have just ended join the suspects before the suspects run again.
    await new Promise((resolve) => setImmediate(resolve))
    let isBack = await this.#comesBack()
    const suspects = this.#suspects
    this.#suspects = []
    const culprits: Suspect[] = []
    for (const suspect of suspects) {
      if (!isBack) {
        suspect.settle(this.#unjudged(suspect, suspects))
        continue
      }
      const again = suspect.sit()
      const result = await again.judge()
      if (!again.gotNoAnswer || (!again.lostConnection && (await this.#settings.isAlive()))) {
        suspect.settle(result)
        continue
      }
      culprits.push(suspect)
      isBack = await this.#comesBack()
      suspect.settle(again.result('crash', `the server went away under this row, alone as well: ${result.reason}`))
      this.#tell(suspect.sitting.check.id, suspects, again.lastCalls, isBack)
    }
    if (culprits.length === 0) {
      const [only] = suspects
      const row = !isBack && suspects.length === 1 ? only?.sitting.check.id : undefined
      this.#tell(row, suspects, suspects.flatMap(({ sitting }) => sitting.lastCalls).slice(0, 12), isBack)
    }
    if (!isBack) this.#candidate.patience.giveUp(GONE)
  }

  async #comesBack(): Promise<boolean> {
    const { comeBack, isAlive } = this.#settings
    return (await isAlive()) || ((await comeBack?.()) ?? false)
  }

  /** The server stayed away. A check that ran alone is blamed; of several, none can be. */
  #unjudged({ sitting, result }: Suspect, suspects: readonly Suspect[]): Result {
    if (suspects.length === 1) return sitting.result('crash', `the server went away under this row: ${result.reason}`)
    const others = suspects.map((other) => other.sitting.check.id).join(', ')
    return sitting.result('skip', `the server went away for good while ${others} were in flight`)
  }

  #tell(
    row: string | undefined,
    suspects: readonly Suspect[],
    lastCalls: readonly TranscriptLine[],
    cameBack: boolean,
  ): void {
    this.#settings.onCrash?.({ row, underWay: suspects.map(({ sitting }) => sitting.check.id), lastCalls, cameBack })
  }
}

interface Suspect {
  sit(): Sitting
  readonly sitting: Sitting
  readonly result: Result
  settle(result: Result): void
}
