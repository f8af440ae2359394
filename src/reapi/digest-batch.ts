import { DIGEST_HEAD_WORDS } from '../proto/find-missing-codec.js'
import { Digest, hexWordAt } from './digest.js'
import { type DigestFunction, digestFunctions } from './digest-function.js'

const WORD = 0x1_0000_0000

interface Origin {
  readonly positions?: Uint32Array | undefined
  readonly known?: readonly Digest[] | undefined
  readonly areKeys?: boolean
}

/**
 * Digests of one function as numbers, without an object for each. For lookups of thousands of digests. A
 * selection remembers the positions of its digests in the original batch. So parts that took different paths
 * can be merged, and an answer can refer to the request. Immutable.
 */
export class DigestBatch {
  readonly function: DigestFunction
  readonly count: number
  /**
   * `wordsEach` words for each digest: the upper and lower 32 bits of the size, then the hash, eight hex
   * digits a word.
   */
  readonly words: Int32Array
  readonly wordsEach: number
  /** The digests are only keys: they do not describe the content stored under them (`Digest.describesContent`). */
  readonly areKeys: boolean
  readonly #positions: Uint32Array | undefined
  /** The Digest objects of the original batch, by position, if it was made from objects. */
  readonly #known: readonly Digest[] | undefined

  constructor(digestFunction: DigestFunction, words: Int32Array, count: number, from: Origin = {}) {
    this.function = digestFunction
    this.count = count
    this.words = words
    this.wordsEach = wordsOf(digestFunction)
    this.areKeys = from.areKeys ?? false
    this.#positions = from.positions
    this.#known = from.known
  }

  /** All digests must have the same function, and all must be keys or none. */
  static of(digests: readonly Digest[]): DigestBatch {
    const digestFunction = digests[0]?.function ?? digestFunctions.SHA256
    const wordsEach = wordsOf(digestFunction)
    const words = new Int32Array(digests.length * wordsEach)
    let to = 0
    for (const { function: other, hash, sizeBytes } of digests) {
      if (other !== digestFunction)
        throw new Error(`a batch of ${digestFunction.name} digests has one of ${other.name}`)
      words[to++] = Math.floor(sizeBytes / WORD)
      words[to++] = sizeBytes | 0
      for (let at = 0; at < hash.length; at += 8) words[to++] = hexWordAt(hash, at)
    }
    const areKeys = digests[0]?.describesContent === false
    return new DigestBatch(digestFunction, words, digests.length, { known: digests, areKeys })
  }

  at(index: number): Digest {
    const digest = this.#known?.[this.positionOf(index)] ?? this.#parse(index)
    return this.areKeys ? digest.asKey() : digest
  }

  /** The same digests, either as keys or as digests that describe content. */
  as(kind: { readonly areKeys: boolean }): DigestBatch {
    if (kind.areKeys === this.areKeys) return this
    return new DigestBatch(this.function, this.words, this.count, this.#origin(this.#positions, kind.areKeys))
  }

  digests(): Digest[] {
    return Array.from({ length: this.count }, (_, index) => this.at(index))
  }

  /** Position of a digest in the original batch, also after several selections. */
  positionOf(index: number): number {
    return this.#positions === undefined ? index : (this.#positions[index] as number)
  }

  /** Reads the size without creating a Digest. */
  sizeBytesAt(index: number): number {
    const first = index * this.wordsEach
    return ((this.words[first] as number) >>> 0) * WORD + ((this.words[first + 1] as number) >>> 0)
  }

  /** Eight hex digits of the hash as a signed number; word 0 holds the first ones. */
  hashWordAt(index: number, word: number): number {
    return this.words[index * this.wordsEach + DIGEST_HEAD_WORDS + word] as number
  }

  /** Drops the digests of the empty blob. */
  withoutEmpty(): DigestBatch {
    let emptyCount = 0
    for (let index = 0; index < this.count; index++) if (this.#isEmptyAt(index)) emptyCount++
    return emptyCount === 0 ? this : this.select(this.#indexesOf((index) => !this.#isEmptyAt(index)))
  }

  /** The digests at these indexes, in the order of the indexes. */
  select(indexes: readonly number[]): DigestBatch {
    const count = indexes.length
    if (count === this.count) return this
    const { wordsEach } = this
    const positions = new Uint32Array(count)
    const words = new Int32Array(count * wordsEach)
    for (let at = 0, to = 0; at < count; at++) {
      const index = indexes[at] as number
      positions[at] = this.positionOf(index)
      const end = (index + 1) * wordsEach
      for (let from = index * wordsEach; from < end; from++) words[to++] = this.words[from] as number
    }
    return new DigestBatch(this.function, words, count, this.#origin(positions, this.areKeys))
  }

  /** The digests that are not in `others`, which must be a selection of this batch in the same order. */
  except(others: DigestBatch): DigestBatch {
    if (others.count === 0) return this
    let next = 0
    const rest: number[] = []
    for (let index = 0; index < this.count; index++) {
      if (next < others.count && others.positionOf(next) === this.positionOf(index)) next += 1
      else rest.push(index)
    }
    return this.select(rest)
  }

  /** Merges disjoint selections of one batch, in the order of that batch. */
  static merge(first: DigestBatch, ...others: readonly DigestBatch[]): DigestBatch {
    const batches = [first, ...others].filter(({ count }) => count > 0)
    const [only] = batches
    if (only === undefined || batches.length === 1) return only ?? first
    const origins = batches.flatMap((batch) =>
      Array.from({ length: batch.count }, (_, index) => ({ batch, index, position: batch.positionOf(index) })),
    )
    origins.sort((a, b) => a.position - b.position)
    const { wordsEach } = first
    const words = new Int32Array(origins.length * wordsEach)
    for (const [at, { batch, index }] of origins.entries()) {
      words.set(batch.words.subarray(index * wordsEach, (index + 1) * wordsEach), at * wordsEach)
    }
    const positions = Uint32Array.from(origins, ({ position }) => position)
    return new DigestBatch(first.function, words, origins.length, first.#origin(positions, first.areKeys))
  }

  #origin(positions: Uint32Array | undefined, areKeys: boolean): Origin {
    return { positions, known: this.#known, areKeys }
  }

  #indexesOf(isWanted: (index: number) => boolean): number[] {
    const indexes: number[] = []
    for (let index = 0; index < this.count; index++) if (isWanted(index)) indexes.push(index)
    return indexes
  }

  #isEmptyAt(index: number): boolean {
    const first = index * this.wordsEach
    return this.words[first + 1] === 0 && this.words[first] === 0 && this.at(index).isEmpty
  }

  #parse(index: number): Digest {
    const first = index * this.wordsEach
    const bytes = Buffer.allocUnsafe((this.wordsEach - DIGEST_HEAD_WORDS) * 4)
    for (let word = DIGEST_HEAD_WORDS; word < this.wordsEach; word++) {
      bytes.writeInt32BE(this.words[first + word] as number, (word - DIGEST_HEAD_WORDS) * 4)
    }
    return Digest.parse({ hash: bytes.toString('hex'), sizeBytes: this.sizeBytesAt(index) }, this.function)
  }
}

const wordsOf = ({ hexLength }: DigestFunction): number => DIGEST_HEAD_WORDS + (hexLength >>> 3)
