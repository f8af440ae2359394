import { StatusError } from '../../base/status-error.js'
import { BlobFeed, type FeedTaker } from './feed.js'

/** Connects a producer that pushes bytes with a consumer; either of them may come first. */
export class PushedFeed extends BlobFeed {
  #taker: FeedTaker | undefined
  #isEnded = false
  #isOver = false
  #failure: unknown
  #begun: (() => void) | undefined
  #settle: { resolve(): void; reject(error: unknown): void } | undefined

  /** Lends bytes until the promise resolves. Resolves at once if the feed is over: the bytes are dropped. */
  async push(bytes: Buffer): Promise<void> {
    while (this.#taker === undefined && !this.#isOver) await this.#beginning()
    if (this.#isOver) return
    try {
      await this.#taker?.(bytes)
    } catch (error) {
      this.#end(error)
    }
  }

  /** Call this after the last push. */
  finish(): void {
    this.#isEnded = true
    if (this.#taker !== undefined) this.#end()
  }

  /** Ends the feed with an error. */
  fail(error: StatusError): void {
    this.#end(error)
  }

  discard(): void {
    if (!this.#isOver) this.#end(new StatusError('CANCELLED', 'the transfer was abandoned'))
  }

  protected move(taker: FeedTaker): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#taker = taker
      if (this.#isOver) reject(this.#failure)
      else if (this.#isEnded) this.#end()
      this.#begun?.()
    })
  }

  #beginning(): Promise<void> {
    return new Promise((resolve) => {
      this.#begun = resolve
    })
  }

  #end(error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = error
    if (error === undefined) this.#settle?.resolve()
    else this.#settle?.reject(error)
    this.#begun?.()
  }
}
