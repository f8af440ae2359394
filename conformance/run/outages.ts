import type { Candidate } from '../exam/candidate.js'
import type { TranscriptLine } from '../exam/exam.js'
import type { Result, Verdict } from './result.js'

export interface OutageSettings {
  /** Asked after a check that got no answer. */
  isAlive(): Promise<boolean>
  /** Waits for a server that went away, or brings it back; false when it stays away, and the run is over. */
  comeBack?(): Promise<boolean>
  onCrash?(crash: Crash): void
}

/** One check being taken. */
export interface Sitting {
  readonly check: { readonly id: string }
  /** The server kept silent, or was gone. */
  readonly gotNoAnswer: boolean
  /** The connection broke under it, or there was none. */
  readonly lostConnection: boolean
  /** It found something to say of the server: where that is away, of a connection that ended with it perhaps. */
  readonly hasDiverged: boolean
  readonly lastCalls: readonly TranscriptLine[]
  judge(): Promise<Result>
  result(verdict: Verdict, reason: string): Result
}

/** The server went away in mid-run. */
export interface Crash {
  /** The row under which it did, also when that was taken alone; undefined when none did it again. */
  readonly row: string | undefined
  /** The rows that were under way the first time. */
  readonly underWay: readonly string[]
  readonly lastCalls: readonly TranscriptLine[]
  readonly cameBack: boolean
}

const GONE = 'the server stopped answering in mid-run'

/** Takes checks as long as the server is there, and finds out under which of them it goes away. */
export class Outages {
  readonly #candidate: Candidate
  readonly #settings: OutageSettings
  readonly #underWay = new Set<Promise<unknown>>()
  /** Those that got no answer while the server was away. */
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
    // Those that have just ended join the suspects before they are looked at.
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

  /** The server stayed away: alone it is blamed, among others nobody knows. */
  #unjudged({ sitting, result }: Suspect, suspects: readonly Suspect[]): Result {
    if (suspects.length === 1) return sitting.result('crash', `the server went away under this row: ${result.reason}`)
    const others = suspects.map((other) => other.sitting.check.id).join(', ')
    return sitting.result('skip', `the server went away for good while ${others} were under way`)
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
