import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'

/** Words of a digest ahead of those of its hash: the size's upper and its lower 32 bits. */
export const BATCH_HEAD_WORDS = 2

const WORD = 0x1_0000_0000

/** The digests of a repeated field as they lie in the bytes of a message: well-formed, all with hashes of one length. */
export interface PackedDigests {
  readonly message: Buffer
  /** Where each element begins. A byte of tag and one of length, the same for its hash, and the hash. */
  readonly starts: Uint32Array
  /** For each `BATCH_HEAD_WORDS` and its hash, eight hex digits a word, the first digit highest. */
  readonly words: Int32Array
  readonly count: number
}

/** Digests of one function without an object for each: for who asks about thousands and compares words. Immutable. */
export class DigestBatch {
  readonly function: DigestFunction
  readonly count: number
  /** Of every digest `wordsEach`: see PackedDigests. */
  readonly words: Int32Array
  readonly wordsEach: number
  readonly #message: Buffer
  readonly #starts: Uint32Array

  /** The function's hashes have the length of the packed ones. */
  constructor(digestFunction: DigestFunction, { message, starts, words, count }: PackedDigests) {
    this.function = digestFunction
    this.count = count
    this.words = words
    this.wordsEach = BATCH_HEAD_WORDS + (digestFunction.hexLength >>> 3)
    this.#message = message
    this.#starts = starts
  }

  at(position: number): Digest {
    const hashAt = (this.#starts[position] as number) + HASH_OFFSET
    const hash = this.#message.toString('latin1', hashAt, hashAt + this.function.hexLength)
    const first = position * this.wordsEach
    const sizeBytes = ((this.words[first] as number) >>> 0) * WORD + ((this.words[first + 1] as number) >>> 0)
    return Digest.parse({ hash, sizeBytes }, this.function)
  }

  digests(): Digest[] {
    return Array.from({ length: this.count }, (_, position) => this.at(position))
  }

  /** Those of blobs that have bytes. */
  withoutEmpty(): DigestBatch {
    let emptyCount = 0
    for (let position = 0; position < this.count; position++) if (this.#isEmptyAt(position)) emptyCount++
    if (emptyCount === 0) return this
    const positions: number[] = []
    for (let position = 0; position < this.count; position++) if (!this.#isEmptyAt(position)) positions.push(position)
    return this.select(positions)
  }

  /** Those at these positions, in their order. */
  select(positions: readonly number[]): DigestBatch {
    const count = positions.length
    if (count === this.count) return this
    const starts = new Uint32Array(count)
    const words = new Int32Array(count * this.wordsEach)
    for (let at = 0; at < count; at++) {
      const position = positions[at] as number
      starts[at] = this.#starts[position] as number
      const from = position * this.wordsEach
      const to = at * this.wordsEach
      for (let word = 0; word < this.wordsEach; word++) words[to + word] = this.words[from + word] as number
    }
    return new DigestBatch(this.function, { message: this.#message, starts, words, count })
  }

  /** Those among `digests`, which are some of these and in the same order. */
  only(digests: readonly Digest[]): DigestBatch {
    const positions: number[] = []
    for (let position = 0; position < this.count && positions.length < digests.length; position++) {
      if (this.at(position).key === digests[positions.length]?.key) positions.push(position)
    }
    return this.select(positions)
  }

  /** The elements as they came, tags and lengths included, one behind the other. */
  elements(): Buffer {
    let sizeBytes = 0
    for (let at = 0; at < this.count; at++) sizeBytes += this.#endOf(at) - (this.#starts[at] as number)
    const elements = Buffer.allocUnsafe(sizeBytes)
    for (let at = 0, to = 0; at < this.count; ) {
      const start = this.#starts[at] as number
      let end = this.#endOf(at++)
      // What came side by side is copied in one go.
      while (at < this.count && this.#starts[at] === end) end = this.#endOf(at++)
      to += this.#message.copy(elements, to, start, end)
    }
    return elements
  }

  #isEmptyAt(position: number): boolean {
    const first = position * this.wordsEach
    return this.words[first + 1] === 0 && this.words[first] === 0 && this.at(position).isEmpty
  }

  #endOf(position: number): number {
    const start = this.#starts[position] as number
    return start + 2 + (this.#message[start + 1] as number)
  }
}

const HASH_OFFSET = 4
