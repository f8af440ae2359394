import { StatusError } from '../../base/status-error.js'
import type { BlobFeed, FeedTaker } from '../../stream/blob/feed.js'

/** The bytes of an upload, from the Writes that bring them to the store that takes them. */
export class UploadFeed implements BlobFeed {
  #taker: FeedTaker | undefined
  #isEnded = false
  #isOver = false
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
      if (this.#isOver) reject(discarded())
      else if (this.#isEnded) this.#end()
      this.#begun?.()
    })
  }

  discard(): void {
    if (!this.#isOver) this.#end(discarded())
  }

  #beginning(): Promise<void> {
    return new Promise((resolve) => {
      this.#begun = resolve
    })
  }

  #end(error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (error === undefined) this.#settle?.resolve()
    else this.#settle?.reject(error)
    this.#begun?.()
  }
}

const discarded = (): StatusError => new StatusError('CANCELLED', 'the upload was given up')
