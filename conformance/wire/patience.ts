import { setMaxListeners } from 'node:events'

/** How one call ended, as far as waiting is concerned. */
export interface Ended {
  readonly responses: readonly unknown[]
  readonly isOverdue: boolean
}

/** Calls of one method that may stay unanswered in a row before the next ones wait only `SHORT_MS`. */
const MOST_SILENCES = 3
const SHORT_MS = 1_000
/** So many methods silent, with no answer to any call in between, and the run is over. */
const MOST_SILENT_METHODS = 4
/** Streams that stay open for as long as an action runs: one message on them is an answer. */
const LONG_STREAMS: ReadonlySet<string> = new Set(['Execute', 'WaitExecution', 'Watch'])

/**
 * How long a run goes on waiting for a server that keeps silent. A method that left several calls in a row unanswered
 * is still asked, with a short deadline, so that a server that hangs in one method costs seconds and not hours; a server
 * that hangs in several ends the run.
 */
export class Patience {
  readonly #silences = new Map<string, number>()
  readonly #silentInARow = new Set<string>()
  readonly #over = new AbortController()

  readonly #factor: number

  /** `factor` multiplies every deadline: for a server that is slow, or far, or shares a machine that is loaded. */
  constructor(factor = 1) {
    this.#factor = factor
    // Every check that is under way listens: as many as there are lanes, and those that wait beside them.
    setMaxListeners(0, this.#over.signal)
  }

  /** Aborted when the run is over before its end. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Why the run is over before its end; undefined while it is not. */
  get reason(): string | undefined {
    return this.#over.signal.aborted ? String(this.#over.signal.reason) : undefined
  }

  giveUp(reason: string): void {
    this.#over.abort(reason)
  }

  /** Methods that are waited for no longer: they left several calls in a row unanswered, and none was answered since. */
  get silentMethods(): readonly string[] {
    return [...this.#silences].flatMap(([method, silences]) => (silences < MOST_SILENCES ? [] : [method]))
  }

  /** A deadline that is no single call's, on the scale of this run. */
  scaledMs(ms: number): number {
    return ms * this.#factor
  }

  deadlineMs(method: string, wantedMs: number): number {
    const ms = (this.#silences.get(method) ?? 0) < MOST_SILENCES ? wantedMs : Math.min(wantedMs, SHORT_MS)
    return this.scaledMs(ms)
  }

  noteEnd(method: string, ended: Ended): void {
    if (!isSilence(method, ended)) {
      this.#silences.delete(method)
      // The one call that a server may answer while all that stands behind it hangs.
      if (method !== 'GetCapabilities') this.#silentInARow.clear()
      return
    }
    const silences = (this.#silences.get(method) ?? 0) + 1
    this.#silences.set(method, silences)
    this.#silentInARow.add(method)
    if (this.#silentInARow.size < MOST_SILENT_METHODS) return
    this.giveUp(`the server connects and does not answer: ${[...this.#silentInARow].join(', ')} kept silent in a row`)
  }
}

const isSilence = (method: string, { responses, isOverdue }: Ended): boolean =>
  isOverdue && (responses.length === 0 || !LONG_STREAMS.has(method))
