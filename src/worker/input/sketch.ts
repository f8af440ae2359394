import { hexWordAt } from '../../reapi/digest.js'
import type { FileEntry } from '../../reapi/directory.js'

/** How many files stand for a tree. Estimates of what two trees share are about an eighth wrong. */
const MAX_WORDS = 64

/**
 * The files of a tree as the smallest of their hashes (a bottom-k sketch). Two trees that share most files share most of
 * these, so sketches show which of many trees is the most similar one in microseconds. A file counts by name and
 * content, wherever it lies.
 */
export class Sketch {
  /** Ascending, each once. */
  readonly #words: readonly number[]

  private constructor(words: readonly number[]) {
    this.#words = words
  }

  static of(files: readonly FileEntry[]): Sketch {
    const words = [...new Set(files.map(wordOf))].sort((a, b) => a - b)
    return new Sketch(words.slice(0, MAX_WORDS))
  }

  /** The sketch of the files of both. */
  with(other: Sketch): Sketch {
    if (other.#words.length === 0) return this
    if (this.#words.length === 0) return other
    return new Sketch(merged(this.#words, other.#words).words)
  }

  /** The estimated share of files that both have among the files that one of them has: 0 to 1. */
  similarity(other: Sketch): number {
    const { words, both } = merged(this.#words, other.#words)
    return words.length === 0 ? 1 : both / words.length
  }
}

/** The smallest words of both lists, and how many of them are in both. */
const merged = (
  one: readonly number[],
  other: readonly number[],
): { readonly words: number[]; readonly both: number } => {
  const words: number[] = []
  let [at, otherAt, both] = [0, 0, 0]
  while (words.length < MAX_WORDS && (at < one.length || otherAt < other.length)) {
    const word = one[at] ?? Number.POSITIVE_INFINITY
    const otherWord = other[otherAt] ?? Number.POSITIVE_INFINITY
    if (word === otherWord) both++
    if (word <= otherWord) at++
    if (otherWord <= word) otherAt++
    words.push(Math.min(word, otherWord))
  }
  return { words, both }
}

const FNV_PRIME = 16_777_619

const wordOf = ({ name, digest: { hash } }: FileEntry): number => {
  let word = hexWordAt(hash, 0)
  for (let at = 0; at < name.length; at++) word = Math.imul(word ^ name.charCodeAt(at), FNV_PRIME)
  return word
}
