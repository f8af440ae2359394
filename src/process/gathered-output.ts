export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
  /** Makes the line that stands for lines which could not be written. */
  noticeOf?: (lines: number, reason: string) => string
}

/** Between two writes, while lines keep coming. */
const INTERVAL_MS = 100
/** What waits no longer for more. */
const ENOUGH_CHARACTERS = 64 * 1024

/**
 * Gathers lines: a write to a pipe or a file holds up the event loop, for longer than a small call takes. The first line after a
 * pause is written at the end of its turn, those that follow ten times a second. Who ends the process has to `flush`.
 */
export class GatheredOutput implements Output {
  readonly isTTY: boolean
  readonly #output: Output
  readonly #shown: (text: string) => string
  #text = ''
  #isPaused = true

  /** `shown` is what may be seen of a text. */
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
      setImmediate(this.#writeSome)
    }
    this.#text += text
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
    this.flush()
    // Keeps no process from ending, whose last lines are written then.
    setTimeout(this.#writeSome, INTERVAL_MS).unref()
  }
}
