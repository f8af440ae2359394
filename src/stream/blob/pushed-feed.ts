import { StatusError } from '../../base/status-error.js'
import type { BlobFeed, FeedTaker } from './feed.js'

/** Bytes on their way from who has them to who takes them, whichever of the two comes first. */
export class PushedFeed implements BlobFeed {
  #taker: FeedTaker | undefined
  #isEnded = false
  #isOver = false
  #failure: unknown
  #begun: (() => void) | undefined
  #settle: { resolve(): void; reject(error: unknown): void } | undefined

  /** Gives bytes away, which are lent until the answer has resolved; at once and to nobody where the feed is over. */
  async push(bytes: Buffer): Promise<void> {
    while (this.#taker === undefined && !this.#isOver) await this.#beginning()
    if (this.#isOver) return
    try {
      await this.#taker?.(bytes)
    } catch (error) {
      this.#end(error)
    }
  }

  /** Everything was pushed. */
  finish(): void {
    this.#isEnded = true
    if (this.#taker !== undefined) this.#end()
  }

  into(taker: FeedTaker): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#taker = taker
      if (this.#isOver) reject(this.#failure)
      else if (this.#isEnded) this.#end()
      this.#begun?.()
    })
  }

  /** Nothing more comes, and why. */
  fail(error: StatusError): void {
    this.#end(error)
  }

  discard(): void {
    if (!this.#isOver) this.#end(new StatusError('CANCELLED', 'what is on its way was given up'))
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
