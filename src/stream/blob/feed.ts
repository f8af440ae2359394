import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { BlobCheck } from '../blob-check.js'
import { STAGE_BYTES } from '../path.js'
import { type PendingCheck, rejection } from '../verify.js'

/**
 * Consumes bytes. They are borrowed until it returns, or until its promise settles; until then no more bytes
 * come. Rejects if the bytes are invalid, and then receives no more.
 */
export type FeedTaker = (bytes: Buffer) => Promise<void> | undefined

/**
 * Called if the transfer fails while the taker may still be working. A taker that waits for something else
 * than its own work stops waiting: the transfer settles only after it. Idempotent.
 */
export type OnStop = (error: unknown) => void

/**
 * The last promise of a taker. Whoever lends bytes awaits it before it settles, so that nobody gets the bytes,
 * or the state of the taker, while the taker works on them.
 */
export class LastTake {
  readonly #taker: FeedTaker
  #last: Promise<void> | undefined
  #isOver = false

  constructor(taker: FeedTaker) {
    this.#taker = taker
  }

  readonly take: FeedTaker = (bytes) => {
    if (this.#isOver) return undefined
    this.#last = this.#taker(bytes)
    return this.#last
  }

  /** Gives the taker nothing more, and resolves once it has settled. Its failure was reported by `take`. */
  async settled(): Promise<void> {
    this.#isOver = true
    await this.#last?.catch(() => {})
  }
}

/**
 * Bytes in transit that are only lent to the consumer, for example bytes in the buffer of a connection. A class,
 * because every kind of feed must keep what `into` promises.
 */
export abstract class BlobFeed {
  /**
   * Sends all bytes to `taker`; call it once. Resolves when `taker` has consumed all, rejects if `taker` or
   * the feed fails. In both cases the last promise of `taker` has settled before.
   */
  async into(taker: FeedTaker, onStop?: OnStop): Promise<void> {
    const last = new LastTake(taker)
    try {
      await this.move(last.take, onStop)
    } catch (error) {
      onStop?.(error)
      throw error
    } finally {
      await last.settled()
    }
  }

  /** The consumer needs no more bytes. Idempotent. */
  abstract discard(): void

  /** `into` as the feed does it: may reject while `taker` works. A feed behind another passes `onStop` on. */
  protected abstract move(taker: FeedTaker, onStop: OnStop | undefined): Promise<void>
}

/** Checks the bytes against a digest, and fails before the last byte if they do not match. */
export const checkedFeed = (feed: BlobFeed, check: PendingCheck): BlobFeed => new CheckedFeed(feed, check)

class CheckedFeed extends BlobFeed {
  readonly #feed: BlobFeed
  readonly #check: PendingCheck

  constructor(feed: BlobFeed, check: PendingCheck) {
    super()
    this.#feed = feed
    this.#check = check
  }

  discard(): void {
    this.#feed.discard()
  }

  protected async move(taker: FeedTaker, onStop: OnStop | undefined): Promise<void> {
    const check = this.#check
    const progress = new BlobCheck(check.digest, check)
    const take: FeedTaker = (bytes) => {
      const error = progress.update(bytes)
      return error === undefined ? taker(bytes) : rejection(error, check.repair)
    }
    await this.#feed.into(take, onStop)
    const error = progress.end()
    if (error !== undefined) await rejection(error, check.repair)
  }
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
      .into(
        (bytes) => this.#take(bytes),
        () => this.#goOn(),
      )
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
