import { Transform, type TransformCallback } from 'node:stream'
import type { StatusError } from '../base/status-error.js'
import { Branch } from './branch.js'
import { STAGE_BYTES, type WritePath } from './path.js'

/**
 * Passes bytes on and fills a cache with them on the way. The cache paces the read while it works and is dropped when it
 * fails: it never fails the read. The read ends after the cache has committed, so that the next reader finds it there.
 */
export class Spill extends Transform {
  /** Settles when the cache holds the blob (`undefined`), or why it does not. Never rejects. */
  readonly outcome: Promise<StatusError | undefined>
  readonly #cache: Branch

  constructor(cache: WritePath) {
    super({ highWaterMark: STAGE_BYTES })
    this.#cache = new Branch(cache)
    this.outcome = this.#cache.outcome
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    if (this.#cache.write(chunk)) callback(null, chunk)
    else this.#cache.onReady(() => callback(null, chunk))
  }

  override _flush(callback: TransformCallback): void {
    this.#cache.end()
    void this.outcome.then(() => callback())
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#cache.destroy(error ?? undefined)
    void this.outcome.then(() => callback(error))
  }
}
