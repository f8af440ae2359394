import { lendBuffer, SMALL_BYTES } from '../../base/lent-buffers.js'
import { TimeSlices } from '../../work/time-slices.js'
import { BlobFeed, type FeedTaker, type OnStop } from '../blob/feed.js'
import { invalidZstd, ZstdDecoder } from './zstd.js'

/** How long the event loop may be blocked by one small chunk that decodes to gigabytes. */
const SLICE_MS = 1

/**
 * Decodes lent frames. The content is lent too: all of it passes through one buffer, so nothing is copied or
 * left over.
 */
export const zstdDecodedFeed = (feed: BlobFeed, maxBytes?: number): BlobFeed => new DecodedFeed(feed, maxBytes)

class DecodedFeed extends BlobFeed {
  readonly #feed: BlobFeed
  readonly #maxBytes: number | undefined

  constructor(feed: BlobFeed, maxBytes: number | undefined) {
    super()
    this.#feed = feed
    this.#maxBytes = maxBytes
  }

  discard(): void {
    this.#feed.discard()
  }

  protected async move(taker: FeedTaker, onStop: OnStop | undefined): Promise<void> {
    const decoding = new Decoding(taker, this.#maxBytes)
    const stop = (error: unknown): void => {
      decoding.stop()
      onStop?.(error)
    }
    try {
      await this.#feed.into((bytes) => decoding.take(bytes), stop)
      decoding.end()
    } finally {
      decoding.close()
    }
  }
}

class Decoding {
  readonly #taker: FeedTaker
  readonly #scratch = lendBuffer(SMALL_BYTES)
  readonly #frames: ZstdDecoder
  #isOver = false

  constructor(taker: FeedTaker, maxBytes: number | undefined) {
    this.#taker = taker
    this.#frames = new ZstdDecoder(invalidZstd, { scratch: this.#scratch.bytes, maxBytes })
  }

  async take(bytes: Buffer): Promise<void> {
    const slices = new TimeSlices(SLICE_MS)
    for (const piece of this.#frames.decode(bytes)) {
      await this.#taker(piece)
      await slices.step()
      if (this.#isOver) return
    }
  }

  /** Call this after the last byte. */
  end(): void {
    if (this.#frames.isInside) throw invalidZstd('they end inside a frame')
  }

  /** Makes no more of the current chunk: a small one may decode to gigabytes. */
  stop(): void {
    this.#isOver = true
  }

  /** Call this when `take` has settled. */
  close(): void {
    this.#frames.close()
    this.#scratch.release()
  }
}
