import type { Digest } from '../../reapi/digest.js'
import { functionsByValue } from '../../reapi/digest-function.js'

/** Words in the longest supported hash (SHA512). */
export const HASH_WORDS_MAX = 16

/**
 * The identity of one digest as 32-bit words, as the index compares it. One probe is reused for all lookups, so that a
 * lookup allocates nothing. The words of the index are signed: V8 keeps those in registers and small integers, while an
 * unsigned word of 2^31 or more becomes a heap number wherever a call is not inlined.
 */
export class Probe {
  readonly #buffer = new Int32Array(HASH_WORDS_MAX)
  /** The hash, from `first` on. */
  words: Int32Array = this.#buffer
  first = 0
  wordCount = 0
  sizeLow = 0
  /** The upper 21 bits of the size, below the number of the digest function. */
  sizeHighAndFunction = 0

  #hash = ''
  #loadedCount = 0

  /** Reads only the first two words, which usually prove that a digest is absent. `complete` reads the others. */
  load({ function: digestFunction, hash, sizeBytes }: Digest): void {
    this.#hash = hash
    this.words = this.#buffer
    this.first = 0
    this.wordCount = hash.length >>> 3
    this.sizeLow = sizeBytes | 0
    this.sizeHighAndFunction = Math.floor(sizeBytes / WORD) | (digestFunction.value << FUNCTION_SHIFT)
    this.words[0] = wordAt(hash, 0)
    this.words[1] = wordAt(hash, 8)
    this.#loadedCount = 2
  }

  /** Reads the remaining words. */
  complete(): void {
    for (let word = this.#loadedCount; word < this.wordCount; word++) this.words[word] = wordAt(this.#hash, word << 3)
    this.#loadedCount = this.wordCount
  }

  /**
   * An identity in words that do not change while the probe refers to them: `sizeHighAndFunction`, `sizeLow`, and the hash from
   * `first` on.
   */
  refer(sizeHighAndFunction: number, sizeLow: number, words: Int32Array, first: number, wordCount: number): void {
    this.sizeHighAndFunction = sizeHighAndFunction
    this.sizeLow = sizeLow
    this.words = words
    this.first = first
    this.wordCount = wordCount
    this.#loadedCount = wordCount
  }
}

/** 2^32: the first value that does not fit in the lower word of a size. */
export const WORD = 0x1_0000_0000

/** A size has at most 53 bits. The upper word holds 21 of them, which leaves eleven bits free. */
export const HIGH_MASK = 0x1f_ffff

export const FUNCTION_SHIFT = 24

/** By the number of a digest function. A list, because a start asks for each blob. */
const WORD_COUNTS: readonly number[] = Array.from(
  { length: 1 + Math.max(...functionsByValue.keys()) },
  (_, value) => (functionsByValue.get(value)?.hexLength ?? 0) >>> 3,
)

/** The number of words in the hash of a record, from its SIZE_HIGH. */
export const wordCountOf = (sizeHigh: number): number => {
  const value = sizeHigh >>> FUNCTION_SHIFT
  const count = WORD_COUNTS[value] ?? 0
  if (count === 0) throw new RangeError(`${value} is not the number of a digest function`)
  return count
}

/**
 * Eight digits without a loop: 141 ns per SHA256 hash, against 187 ns digit by digit and 159 ns with Buffer's hexWrite.
 */
const wordAt = (hash: string, at: number): number =>
  (nibble(hash.charCodeAt(at)) << 28) |
  (nibble(hash.charCodeAt(at + 1)) << 24) |
  (nibble(hash.charCodeAt(at + 2)) << 20) |
  (nibble(hash.charCodeAt(at + 3)) << 16) |
  (nibble(hash.charCodeAt(at + 4)) << 12) |
  (nibble(hash.charCodeAt(at + 5)) << 8) |
  (nibble(hash.charCodeAt(at + 6)) << 4) |
  nibble(hash.charCodeAt(at + 7))

/** The value of one lower-case hex digit, from its character code. Digests contain valid digits only. */
const nibble = (code: number): number => (code & 15) + (code >> 6) * 9
