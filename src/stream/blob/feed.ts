import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { BlobCheck } from '../blob-check.js'
import { STAGE_BYTES } from '../path.js'
import { type PendingCheck, repaired } from '../verify.js'

/**
 * Consumes bytes. The bytes may be overwritten after it returns, or after its promise resolves; until then no
 * more bytes come. Rejects if the bytes are invalid, and then receives no more.
 */
export type FeedTaker = (bytes: Buffer) => Promise<void> | undefined

/** Bytes in transit that are only lent to the consumer, for example bytes in the buffer of a connection. */
export interface BlobFeed {
  /**
   * Sends all bytes to `taker`; call it once. Resolves when `taker` has consumed all, rejects if `taker` or
   * the feed fails.
   */
  into(taker: FeedTaker): Promise<void>
  /** The consumer needs no more bytes. Idempotent. */
  discard(): void
}

/** Checks the bytes against a digest, and fails before the last byte if they do not match. */
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

/** A feed as a stream. Copies every chunk, because stages may keep their chunks. */
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
