import type { Clock } from '../../base/clock.js'
import type { Store } from '../../blobs/store.js'
import type { Log } from '../../log/log.js'
import type { Digest } from '../../reapi/digest.js'
import { DigestBatch } from '../../reapi/digest-batch.js'
import { internalCall } from '../../rpc/call.js'

/**
 * How long the chunks of a SplitBlob answer are kept. A client must be able to fetch all chunks of an answer: if a
 * later chunk is missing, Bazel up to 9.2 appends the whole blob to the partly written file.
 */
const KEEP_FOR_MS = 10 * 60_000

/** How often the CAS is asked for kept chunks. Each request counts as a use of the chunks. */
const TOUCH_PERIOD_MS = 30_000

/** Maximum number of kept chunks: 50 GB of blobs with the recommended average size. Each costs about 200 bytes. */
const MAX_KEPT = 100_000

export interface KeptChunksOptions {
  readonly clock: Clock
  readonly log: Log
  /** Default 100,000. */
  readonly maxKept?: number
}

interface Answer {
  readonly cas: Store
  readonly chunks: DigestBatch
  readonly untilMs: number
}

/**
 * Protects the chunks of SplitBlob answers from eviction for ten minutes. Best effort: it only marks the chunks as used
 * every half minute, so a store that receives more than its own size in that time can still evict them. Stores whose
 * `findMissing` does not extend lifetimes are skipped.
 */
export class KeptChunks {
  readonly #options: KeptChunksOptions
  readonly #maxKept: number
  /** By digest key of the split blob, oldest answer first. */
  readonly #answers = new Map<string, Answer>()
  #keptCount = 0
  #stop: (() => void) | undefined
  #isTouching = false

  constructor(options: KeptChunksOptions) {
    this.#options = options
    this.#maxKept = options.maxKept ?? MAX_KEPT
  }

  /** Starts or restarts the ten minutes of an answer. */
  keep(blob: Digest, chunks: readonly Digest[], cas: Store): void {
    if (!cas.properties.extendsLifetimes || chunks.length === 0) return
    this.#forget(blob.key)
    this.#answers.set(blob.key, {
      cas,
      chunks: DigestBatch.of(chunks),
      untilMs: this.#options.clock.now() + KEEP_FOR_MS,
    })
    this.#keptCount += chunks.length
    this.#dropOldest()
    this.#stop ??= this.#options.clock.every(TOUCH_PERIOD_MS, () => this.#touch())
  }

  /** The newest answer is kept whatever its size, because `max_chunk_count` bounds it. */
  #dropOldest(): void {
    for (const [key, { untilMs }] of this.#answers) {
      if (this.#keptCount <= this.#maxKept || this.#answers.size === 1) return
      this.#forget(key)
      const leftS = Math.ceil((untilMs - this.#options.clock.now()) / 1000)
      this.#options.log.warn('SplitBlob answered more chunks than are kept; the oldest may be evicted early', {
        digest: key,
        leftS,
      })
    }
  }

  /** Asks for one answer after another, so that a slow store never has two such requests at a time. */
  async #touch(): Promise<void> {
    if (this.#isTouching) return
    this.#isTouching = true
    const { clock, log } = this.#options
    for (const [key, { cas, chunks, untilMs }] of this.#answers) {
      if (untilMs <= clock.now()) {
        this.#forget(key)
        continue
      }
      try {
        await cas.findMissing(chunks, internalCall({ log }))
      } catch (error) {
        log.warn('could not keep the chunks of a blob in use', { digest: key, error })
      }
    }
    this.#isTouching = false
    if (this.#answers.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  #forget(key: string): void {
    this.#keptCount -= this.#answers.get(key)?.chunks.count ?? 0
    this.#answers.delete(key)
  }
}
