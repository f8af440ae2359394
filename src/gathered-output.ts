export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/**
 * Gathers the lines of a turn of the event loop and writes them at its end in one: a write to a pipe or a file holds up the
 * loop, and at a busy server many calls end in one turn. Who ends the process has to `flush`.
 */
export class GatheredOutput implements Output {
  readonly isTTY: boolean
  readonly #output: Output
  readonly #shown: (text: string) => string
  #text = ''

  /** `shown` is what may be seen of a text. */
  constructor(output: Output, shown = (text: string): string => text) {
    this.#output = output
    this.#shown = shown
    this.isTTY = output.isTTY === true
  }

  write(text: string): void {
    if (this.#text === '') setImmediate(this.flush)
    this.#text += text
  }

  readonly flush = (): void => {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#output.write(this.#shown(text))
  }
}
