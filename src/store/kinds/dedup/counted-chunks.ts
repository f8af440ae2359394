import type { ChunkUsage } from '../../../blobs/meter.js'
import type { Digest } from '../../../reapi/digest.js'

/** Uploads of fewer bytes are not looked for among the chunks of later splices, so that small blobs cost nothing. */
const LEAST_BYTES = 16 * 1024
/** Bound on the uploads that no splice has named yet, of which most are no chunks. */
const MOST_UPLOADS = 50_000

/** Counts how many bytes of larger blobs were there before, as chunks. */
export class CountedChunks {
  readonly #usage = { newBytes: 0, knownBytes: 0, sentBytes: 0, unsentBytes: 0 }
  /** Keys of uploads that a splice has not named yet, oldest first. */
  readonly #uploads = new Set<string>()

  get usage(): ChunkUsage {
    return this.#usage
  }

  isCounted({ sizeBytes }: Digest): boolean {
    return sizeBytes >= LEAST_BYTES
  }

  /** A blob of chunk size was uploaded. */
  uploaded(digest: Digest): void {
    if (!this.isCounted(digest)) return
    const { key } = digest
    this.#uploads.add(key)
    if (this.#uploads.size <= MOST_UPLOADS) return
    for (const oldest of this.#uploads) {
      this.#uploads.delete(oldest)
      return
    }
  }

  /** A larger blob was cut; `newBytes` of it were not there. */
  cut(sizeBytes: number, newBytes: number): void {
    this.#usage.newBytes += newBytes
    this.#usage.knownBytes += sizeBytes - newBytes
  }

  /** A client named these chunks of a larger blob. It sent those that were uploaded since an earlier splice named them. */
  spliced(chunks: readonly Digest[]): void {
    for (const { key, sizeBytes } of chunks) {
      if (this.#uploads.delete(key)) this.#usage.sentBytes += sizeBytes
      else this.#usage.unsentBytes += sizeBytes
    }
  }
}
