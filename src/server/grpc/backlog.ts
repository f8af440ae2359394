/** What a call that has not been answered yet counts for: most answers are smaller, and none is known before it is made. */
const UNANSWERED_BYTES = 64 * 1024

/**
 * The answers of one connection that wait for its client, whom flow control lets ask without reading (RFC 9113, 5.2 and
 * 10.5). While they are many, requests that come wait too: a client that asks and does not read makes no more answers than
 * that. Answers in streams are not meant, which wait for themselves.
 */
export class Backlog {
  readonly #maxBytes: number
  #waitingBytes = 0
  #begins: (() => void)[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(sizeBytes: number): void {
    this.#waitingBytes += sizeBytes
  }

  left(sizeBytes: number): void {
    this.#waitingBytes -= sizeBytes
    while (this.#waitingBytes <= this.#maxBytes) {
      const begin = this.#begins.shift()
      if (begin === undefined) return
      this.#begin(begin)
    }
  }

  /** Calls back once another answer may be made. `answered` has to be called for it. */
  whenCalm(begin: () => void): void {
    if (this.#waitingBytes <= this.#maxBytes) this.#begin(begin)
    else this.#begins.push(begin)
  }

  answered(): void {
    this.left(UNANSWERED_BYTES)
  }

  #begin(begin: () => void): void {
    this.#waitingBytes += UNANSWERED_BYTES
    begin()
  }
}
