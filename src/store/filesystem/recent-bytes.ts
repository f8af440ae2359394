import type { Digest } from '../../reapi/digest.js'

/** Larger ones would push out many small ones, and gain less. */
const LARGEST_BYTES = 16 * 1024
/** What an entry takes besides its bytes: buffer, key and place in the map. */
const OVERHEAD_BYTES = 400
/** What is written is kept up to here: Actions and results are read soon, most other blobs only by another machine. */
const LARGEST_WRITTEN_BYTES = 1024

interface Entry {
  /** Undefined while it is being read. */
  readonly bytes: Buffer | undefined
}

/**
 * Small blobs that were read or written lately, in memory: reading a file is three turns of the thread pool, which for an action
 * result is most of the call. Whoever changes or deletes a file calls `forget` first, so that what is here is what a
 * reader of the disk would get, unless somebody else changed the file: that is noticed when it is next opened.
 */
export class RecentBytes {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  /** Together at most `maxBytes`; 0 keeps none. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get({ key }: Digest): Buffer | undefined {
    const entry = this.#entries.get(key)
    if (entry?.bytes === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.bytes
  }

  /** Announces a read. What `keep` is told of it afterwards counts only if the blob was not forgotten meanwhile. */
  begin({ key }: Digest): Entry | undefined {
    if (this.#maxBytes === 0 || this.#entries.has(key)) return undefined
    const entry = { bytes: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  /** Ends a read that `begin` announced: with the bytes, or without when it failed or they are not wanted. */
  keep(digest: Digest, begun: Entry, bytes: Buffer | undefined): void {
    if (this.#entries.get(digest.key) !== begun) return
    this.#entries.delete(digest.key)
    if (bytes !== undefined && bytes.length <= LARGEST_BYTES) this.#add(digest, bytes)
  }

  /** A blob that has just been written, after `forget` in the same step. Copies it: it may be a part of a message. */
  keepWritten(digest: Digest, bytes: Buffer): void {
    if (this.#maxBytes === 0 || bytes.length > LARGEST_WRITTEN_BYTES) return
    const copy = Buffer.allocUnsafeSlow(bytes.length)
    bytes.copy(copy)
    this.#add(digest, copy)
  }

  #add(digest: Digest, bytes: Buffer): void {
    this.#entries.set(digest.key, { bytes })
    this.#bytes += bytes.length + OVERHEAD_BYTES
    for (const [key, oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(key, oldest)
    }
  }

  forget({ key }: Digest): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#drop(key, entry)
  }

  #drop(key: string, { bytes }: Entry): void {
    this.#entries.delete(key)
    if (bytes !== undefined) this.#bytes -= bytes.length + OVERHEAD_BYTES
  }
}
