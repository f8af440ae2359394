import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { BlobCheck } from '../blob-check.js'
import { STAGE_BYTES } from '../path.js'
import { type PendingCheck, repaired } from '../verify.js'

/**
 * Takes bytes, which may be overwritten once it has answered, or once what it answers has resolved: then there is no room for
 * more until that. Rejects with what is wrong; nothing more is given to it then.
 */
export type FeedTaker = (bytes: Buffer) => Promise<void> | undefined

/** Bytes on their way that are only lent to who takes them: those of a client, where they were received. */
export interface BlobFeed {
  /** Gives everything to `taker`, once. Resolves when it has taken all; rejects when it has failed, or nothing more will come. */
  into(taker: FeedTaker): Promise<void>
  /** Nobody wants more of it. A second time does nothing. */
  discard(): void
}

/** The same bytes, compared with a digest on their way: nobody is given the last of those that are not right. */
export const checkedFeed = (feed: BlobFeed, check: PendingCheck): BlobFeed => ({
  into: async (taker) => {
    const progress = new BlobCheck(check.digest, check)
    await feed.into((bytes) => {
      const error = progress.update(bytes)
      return error === undefined ? taker(bytes) : rejection(error, check)
    })
    const error = progress.end()
    if (error !== undefined) throw await repaired(error, check.repair)
  },
  discard: () => feed.discard(),
})

const rejection = async (error: StatusError, { repair }: PendingCheck): Promise<never> => {
  throw await repaired(error, repair)
}

/** A feed for stages of a path, which keep what they get: every chunk is a copy. */
export class FeedSource extends Readable {
  readonly #feed: BlobFeed
  #isBegun = false
  #whenRoom: (() => void) | undefined

  constructor(feed: BlobFeed) {
    super({ highWaterMark: STAGE_BYTES })
    this.#feed = feed
  }

  override _read(): void {
    this.#goOn()
    if (this.#isBegun) return
    this.#isBegun = true
    this.#feed
      .into((bytes) => this.#take(bytes))
      .then(
        () => this.push(null),
        (error: unknown) => this.destroy(StatusError.from(error)),
      )
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#feed.discard()
    this.#goOn()
    callback(error)
  }

  #take(bytes: Buffer): Promise<void> | undefined {
    if (this.destroyed || this.push(Buffer.from(bytes))) return undefined
    return new Promise((resolve) => {
      this.#whenRoom = resolve
    })
  }

  #goOn(): void {
    const whenRoom = this.#whenRoom
    this.#whenRoom = undefined
    whenRoom?.()
  }
}
