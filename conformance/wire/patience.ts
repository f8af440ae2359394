import { setMaxListeners } from 'node:events'

/** How one call ended, as far as waiting matters. */
export interface Ended {
  readonly responses: readonly unknown[]
  readonly isOverdue: boolean
}

/** The number of consecutive unanswered calls of one method after which its next calls wait only `SHORT_MS`. */
const MOST_SILENCES = 3
const SHORT_MS = 1_000
/** The run ends when this many methods are silent and no call was answered in between. */
const MOST_SILENT_METHODS = 4
/** Streams that stay open while an action runs: one message on them is an answer. */
const LONG_STREAMS: ReadonlySet<string> = new Set(['Execute', 'WaitExecution', 'Watch'])

/**
 * How long a run waits for a silent server. After several unanswered calls in a row a method gets a short deadline, so
 * that a method that hangs costs seconds. A server that hangs in several methods ends the run.
 */
export class Patience {
  readonly #silences = new Map<string, number>()
  readonly #silentInARow = new Set<string>()
  readonly #over = new AbortController()

  readonly #factor: number

  /** `factor` multiplies every deadline, for a server that is slow, far, or on a loaded machine. */
  constructor(factor = 1) {
    this.#factor = factor
    // Every check in flight listens: those in the lanes, and those that wait beside them.
    setMaxListeners(0, this.#over.signal)
  }

  /** Aborted when the run ends early. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Why the run ended early; undefined if it did not. */
  get reason(): string | undefined {
    return this.#over.signal.aborted ? String(this.#over.signal.reason) : undefined
  }

  giveUp(reason: string): void {
    this.#over.abort(reason)
  }

  /** Methods with a short deadline: several calls in a row got no answer, and none since. */
  get silentMethods(): readonly string[] {
    return [...this.#silences].flatMap(([method, silences]) => (silences < MOST_SILENCES ? [] : [method]))
  }

  /** A deadline of more than one call, scaled for this run. */
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
      // A server whose backends hang may still answer this call.
      if (method !== 'GetCapabilities') this.#silentInARow.clear()
      return
    }
    const silences = (this.#silences.get(method) ?? 0) + 1
    this.#silences.set(method, silences)
    this.#silentInARow.add(method)
    if (this.#silentInARow.size < MOST_SILENT_METHODS) return
    this.giveUp(
      `the server accepts connections and does not answer: ${[...this.#silentInARow].join(', ')} did not answer in a row`,
    )
  }
}

const isSilence = (method: string, { responses, isOverdue }: Ended): boolean =>
  isOverdue && (responses.length === 0 || !LONG_STREAMS.has(method))
