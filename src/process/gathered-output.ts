import { guardedImmediate, guardedTimeout } from '../base/timers.js'

export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
  /** Formats the notice that replaces lost lines. */
  noticeOf?: (lines: number, reason: string) => string
}

/** Time between two writes while lines keep coming. */
const INTERVAL_MS = 100
/** Size above which text is written immediately. */
const ENOUGH_CHARACTERS = 64 * 1024

/**
 * Batches log lines, because a write to a pipe or file blocks the event loop for longer than a small call takes. The
 * first line after a pause is written at the end of its turn; later ones ten times a second. Call `flush` before the
 * process exits.
 */
export class GatheredOutput implements Output {
  readonly isTTY: boolean
  readonly #output: Output
  readonly #shown: (text: string) => string
  #text = ''
  #isPaused = true

  /** `shown` removes what must not be visible in the output. */
  constructor(output: Output, shown = (text: string): string => text) {
    this.#output = output
    this.#shown = shown
    this.isTTY = output.isTTY === true
  }

  set noticeOf(noticeOf: (lines: number, reason: string) => string) {
    this.#output.noticeOf = noticeOf
  }

  write(text: string): void {
    if (this.#isPaused) {
      this.#isPaused = false
      guardedImmediate(this.#writeSome)
    }
    // Here and in `flush`, because a secret may be learned or forgotten while its line waits.
    this.#text += this.#shown(text)
    if (this.#text.length > ENOUGH_CHARACTERS) this.flush()
  }

  readonly flush = (): void => {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#output.write(this.#shown(text))
  }

  readonly #writeSome = (): void => {
    this.#isPaused = this.#text === ''
    if (this.#isPaused) return
    // Does not keep the process alive; the last lines are flushed at its exit. Set first, because a write may fail.
    guardedTimeout(this.#writeSome, INTERVAL_MS).unref()
    this.flush()
  }
}
