import { lendBuffer, SMALL_BYTES } from '../../base/lent-buffers.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { BlobFeed, FeedTaker } from '../blob/feed.js'
import { invalidZstd, ZstdDecoder } from './zstd.js'

/** How long the event loop may be blocked by one small chunk that decodes to gigabytes. */
const SLICE_MS = 1

/**
 * Decodes lent frames. The content is lent too: all of it passes through one buffer, so nothing is copied or
 * left over.
 */
export const zstdDecodedFeed = (feed: BlobFeed): BlobFeed => ({
  into: async (taker) => {
    const decoding = new Decoding(taker)
    try {
      await feed.into((bytes) => decoding.take(bytes))
      decoding.end()
    } finally {
      await decoding.close()
    }
  },
  discard: () => feed.discard(),
})

class Decoding {
  readonly #taker: FeedTaker
  readonly #scratch = lendBuffer(SMALL_BYTES)
  readonly #frames = new ZstdDecoder(invalidZstd, this.#scratch.bytes)
  #work: Promise<void> | undefined
  #isOver = false

  constructor(taker: FeedTaker) {
    this.#taker = taker
  }

  take(bytes: Buffer): Promise<void> {
    this.#work = this.#decode(bytes)
    return this.#work
  }

  /** Call this after the last byte. */
  end(): void {
    if (this.#frames.isInside) throw invalidZstd('they end inside a frame')
  }

  /** Waits for the current chunk, because the feed may be discarded while the taker still reads from the buffer. */
  async close(): Promise<void> {
    this.#isOver = true
    await this.#work?.catch(() => {})
    this.#frames.close()
    this.#scratch.release()
  }

  async #decode(bytes: Buffer): Promise<void> {
    const slices = new TimeSlices(SLICE_MS)
    for (const piece of this.#frames.decode(bytes)) {
      await this.#taker(piece)
      await slices.step()
      if (this.#isOver) return
    }
  }
}
