import type { Digest } from '../../../reapi/digest.js'

/** Larger ones would push out many small ones, and gain less. */
const LARGEST_BYTES = 16 * 1024
/** What an entry takes besides its bytes: buffer, key and place in the map. */
const OVERHEAD_BYTES = 400

interface Entry {
  readonly location: number
  readonly bytes: Buffer
}

/**
 * Small blobs that were read lately, in memory: a read of the log is a turn of the thread pool, which for an action result is
 * half of the call. A record never changes, so an entry is right for as long as the index says the same location.
 */
export class RecentRecords {
  readonly #maxBytes: number
  /** By the key of the digest, the least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  /** Together at most `maxBytes`; 0 keeps none. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The very same buffer as last time: who knows what it holds by the buffer recognises it. */
  get({ key }: Digest, location: number): Buffer | undefined {
    const entry = this.#entries.get(key)
    if (entry?.location !== location) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.bytes
  }

  keep(digest: Digest, location: number, bytes: Buffer): void {
    if (bytes.length > LARGEST_BYTES || this.#maxBytes === 0) return
    this.forget(digest)
    this.#entries.set(digest.key, { location, bytes })
    this.#bytes += bytes.length + OVERHEAD_BYTES
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(key)
    }
  }

  /** Of a blob that is written again or removed: locations come again, after many segments. */
  forget({ key }: Digest): void {
    this.#drop(key)
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes.length + OVERHEAD_BYTES
  }
}
