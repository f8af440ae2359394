import { DIGEST_HEAD_WORDS } from '../../proto/find-missing-codec.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { FUNCTION_SHIFT, Probe } from './probe.js'
import { NONE } from './records.js'
import type { SlotTable } from './slot-table.js'

/** How many lookups read their table entries in one group. */
const TOGETHER = 64

/**
 * Looks up many digests at once. The cost of a lookup is a wait for memory, first for its table entry. A short loop
 * reads the entries of a whole group, so that the processor overlaps these waits. Prefetching records or their
 * neighbours in the order of use in the same way brought nothing.
 */
export class BatchLookup {
  readonly #table: SlotTable
  readonly #probe = new Probe()
  readonly #codes = new Int32Array(TOGETHER)
  readonly #guesses = new Int32Array(TOGETHER)

  constructor(table: SlotTable) {
    this.#table = table
  }

  /** Calls `visit` with each position and its slot or NONE, in order. `visit` must not insert or remove. */
  each(batch: DigestBatch, visit: (position: number, slot: number) => void): void {
    const { words, wordsEach } = batch
    const probe = this.#probe
    const functionWord = batch.function.value << FUNCTION_SHIFT
    const wordCount = wordsEach - DIGEST_HEAD_WORDS
    for (let position = 0, first = 0; position < batch.count; position++, first += wordsEach) {
      const at = position % TOGETHER
      if (at === 0) this.#guess(batch, position)
      // An empty entry already proves that the digest is absent.
      let slot = this.#guesses[at] as number
      if (slot !== NONE) {
        const sizeHigh = (words[first] as number) | functionWord
        probe.refer(sizeHigh, words[first + 1] as number, words, first + DIGEST_HEAD_WORDS, wordCount)
        slot = this.#table.findCode(probe, this.#codes[at] as number)
      }
      visit(position, slot)
    }
  }

  #guess({ words, wordsEach, count }: DigestBatch, from: number): void {
    const end = Math.min(TOGETHER, count - from)
    for (let at = 0, first = from * wordsEach + DIGEST_HEAD_WORDS; at < end; at++, first += wordsEach) {
      const code = this.#table.codeOf(words[first] as number, words[first + 1] as number)
      this.#codes[at] = code
      this.#guesses[at] = this.#table.guess(code)
    }
  }
}
