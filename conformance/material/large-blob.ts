import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import type { Digest } from '../exam/exam.js'

const PIECE_BYTES = 256 << 10
const BLOCK_BYTES = 16
/** The plaintext of the cipher; immutable. */
const ZEROS = Buffer.alloc(PIECE_BYTES)

/**
 * Fresh content of any size that is never held in memory: each piece is generated on demand, and again to compare. Half
 * of each byte is random, so that the content is compressible.
 */
export class LargeBlob {
  readonly sizeBytes: number
  readonly #key = randomBytes(32)
  #digest: Digest | undefined

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes
  }

  get digest(): Digest {
    if (this.#digest === undefined) {
      const hash = createHash('sha256')
      for (const { bytes } of this.pieces()) hash.update(bytes)
      this.#digest = { hash: hash.digest('hex'), sizeBytes: this.sizeBytes }
    }
    return this.#digest
  }

  /** Yields the content from `from` to the end, in pieces of 256 KiB. */
  *pieces(from = 0): Generator<{ readonly at: number; readonly bytes: Buffer; readonly isLast: boolean }> {
    for (let at = from; at < this.sizeBytes; at += PIECE_BYTES) {
      const bytes = this.bytesAt(at, Math.min(PIECE_BYTES, this.sizeBytes - at))
      yield { at, bytes, isLast: at + bytes.length === this.sizeBytes }
    }
  }

  bytesAt(offset: number, length: number): Buffer {
    const skipped = offset % BLOCK_BYTES
    const counter = Buffer.alloc(BLOCK_BYTES)
    counter.writeUInt32BE(Math.floor(offset / BLOCK_BYTES), BLOCK_BYTES - 4)
    const wantedBytes = Math.ceil((skipped + length) / BLOCK_BYTES) * BLOCK_BYTES
    const wanted = wantedBytes <= ZEROS.length ? ZEROS.subarray(0, wantedBytes) : Buffer.alloc(wantedBytes)
    const made = createCipheriv('aes-256-ctr', this.#key, counter).update(wanted)
    const words = new Uint32Array(made.buffer, made.byteOffset, made.length / 4)
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) & 0x0f0f0f0f
    return made.subarray(skipped, skipped + length)
  }
}

/** The digest of a repeated line, cut at a size, computed without holding the content. */
export const repeatedDigest = (line: string, sizeBytes: number): Digest => {
  const hash = createHash('sha256')
  const lines = Buffer.from(line.repeat(Math.ceil(PIECE_BYTES / line.length)))
  for (let at = 0; at < sizeBytes; at += lines.length) hash.update(lines.subarray(0, sizeBytes - at))
  return { hash: hash.digest('hex'), sizeBytes }
}

/** Compares a stream with a blob's content from an offset on, and keeps neither. */
export class Comparer {
  /** The offset of the first byte that differs; undefined if none does. */
  differsAt: number | undefined
  #at: number
  readonly #blob: LargeBlob

  constructor(blob: LargeBlob, from: number) {
    this.#blob = blob
    this.#at = from
  }

  push(bytes: Buffer): void {
    if (this.differsAt !== undefined || bytes.length === 0) return
    const length = Math.min(bytes.length, this.#blob.sizeBytes - this.#at)
    const expected = this.#blob.bytesAt(this.#at, Math.max(0, length))
    if (!expected.equals(bytes)) {
      const first = expected.findIndex((byte, index) => byte !== bytes[index])
      this.differsAt = this.#at + (first < 0 ? expected.length : first)
    }
    this.#at += bytes.length
  }

  /** Bytes of the blob compared so far, counted from its beginning. */
  get reachedBytes(): number {
    return this.#at
  }
}
