import { type IndexMemory, ownMemory } from './memory.js'
import { FUNCTION_SHIFT, HASH_WORDS_MAX, type Probe, wordCountOf } from './probe.js'

/** Words in a record, which is one cache line: eight words of hash, then the named ones below. */
export const RECORD_WORDS = 16
const RECORD_SHIFT = 4

export const HASH_WORDS = 8
export const SIZE_LOW = 8
export const SIZE_HIGH = 9
export const STORED_LOW = 10
export const STORED_HIGH = 11
export const OLDER = 12
export const NEWER = 13
export const ACCESSED = 14
export const EXTRA = 15

/** No slot; ends lists. */
export const NONE = -1

export const CHUNK_SHIFT = 14
export const CHUNK_SLOTS = 1 << CHUNK_SHIFT
const CHUNK_MASK = CHUNK_SLOTS - 1

/** 2^28 blobs need 17 GB of records. Slot numbers beyond that overflow the word arithmetic. */
export const SLOTS_MAX = 1 << 28

/**
 * The records of an index, as a checkpoint keeps them. The arrays stay live: copy them before any asynchronous work.
 */
export interface RecordsImage {
  readonly slotCount: number
  readonly chunks: readonly Int32Array[]
  /** Parallel to `chunks`: the remaining words of long hashes, where there are any. */
  readonly tails: readonly (Int32Array | undefined)[]
}

/**
 * Fixed-size records in chunks of 1 MiB, so that growing never copies. Hashes longer than 32 bytes continue in a
 * parallel chunk, which exists only where such a hash is stored.
 */
export class Records {
  #chunks: Int32Array[] = []
  #tails: (Int32Array | undefined)[] = []
  #slotCount = 0
  #free = NONE
  readonly #memory: IndexMemory
  /** Last uses by other threads, by chunk. */
  readonly #uses: Int32Array[] = []

  constructor(memory: IndexMemory = ownMemory) {
    this.#memory = memory
  }

  get(slot: number, word: number): number {
    return this.#chunk(slot)[((slot & CHUNK_MASK) << RECORD_SHIFT) | word] as number
  }

  set(slot: number, word: number, value: number): void {
    this.#chunk(slot)[((slot & CHUNK_MASK) << RECORD_SHIFT) | word] = value
  }

  /** Sets a word and returns its old value, because finding the chunk twice would double the cost. */
  exchange(slot: number, word: number, value: number): number {
    const chunk = this.#chunk(slot)
    const at = ((slot & CHUNK_MASK) << RECORD_SHIFT) | word
    const before = chunk[at] as number
    chunk[at] = value
    return before
  }

  /** A slot that holds only the identity of the probe. */
  allocate(probe: Probe): number {
    probe.complete()
    const slot = this.#takeSlot()
    const chunk = this.#chunk(slot)
    const base = (slot & CHUNK_MASK) << RECORD_SHIFT
    chunk.fill(0, base, base + RECORD_WORDS)
    const uses = this.#uses[slot >>> CHUNK_SHIFT]
    if (uses !== undefined) Atomics.store(uses, slot & CHUNK_MASK, 0)
    const { words, first, wordCount } = probe
    for (let word = 0; word < HASH_WORDS && word < wordCount; word++) {
      chunk[base + word] = words[first + word] as number
    }
    chunk[base + SIZE_LOW] = probe.sizeLow
    chunk[base + SIZE_HIGH] = probe.sizeHighAndFunction
    try {
      for (let word = HASH_WORDS; word < wordCount; word++) this.#setTail(slot, word, words[first + word] as number)
    } catch (error) {
      // There is no memory for it.
      this.release(slot)
      throw error
    }
    return slot
  }

  /** A free record has no digest function. */
  isFree(slot: number): boolean {
    return this.get(slot, SIZE_HIGH) === 0
  }

  release(slot: number): void {
    this.set(slot, SIZE_HIGH, 0)
    this.set(slot, NEWER, this.#free)
    this.#free = slot
  }

  matches(slot: number, probe: Probe): boolean {
    const chunk = this.#chunk(slot)
    const base = (slot & CHUNK_MASK) << RECORD_SHIFT
    const { words, first } = probe
    // This word includes the function, and the function gives the word count: if it matches, the counts match.
    if (chunk[base + SIZE_HIGH] !== probe.sizeHighAndFunction || chunk[base + SIZE_LOW] !== probe.sizeLow) return false
    if (chunk[base] !== words[first] || chunk[base + 1] !== words[first + 1]) return false
    probe.complete()
    const inRecord = Math.min(probe.wordCount, HASH_WORDS)
    for (let word = 2; word < inRecord; word++) if (chunk[base + word] !== words[first + word]) return false
    for (let word = HASH_WORDS; word < probe.wordCount; word++) {
      if (this.hashWord(slot, word) !== words[first + word]) return false
    }
    return true
  }

  /** `matches` whatever the size. */
  hasHash(slot: number, probe: Probe): boolean {
    if (this.get(slot, SIZE_HIGH) >>> FUNCTION_SHIFT !== probe.sizeHighAndFunction >>> FUNCTION_SHIFT) return false
    probe.complete()
    for (let word = 0; word < probe.wordCount; word++)
      if (this.hashWord(slot, word) !== probe.words[probe.first + word]) return false
    return true
  }

  /** Whether two records have the same digest. */
  areSame(one: number, other: number): boolean {
    const sizeHigh = this.get(one, SIZE_HIGH)
    if (sizeHigh !== this.get(other, SIZE_HIGH) || this.get(one, SIZE_LOW) !== this.get(other, SIZE_LOW)) return false
    for (let word = 0; word < wordCountOf(sizeHigh); word++)
      if (this.hashWord(one, word) !== this.hashWord(other, word)) return false
    return true
  }

  hashWord(slot: number, word: number): number {
    if (word < HASH_WORDS) return this.get(slot, word)
    return this.#tails[slot >>> CHUNK_SHIFT]?.[tailIndex(slot, word)] ?? 0
  }

  /** The number of slots ever used. */
  get slotCount(): number {
    return this.#slotCount
  }

  get image(): RecordsImage {
    return { slotCount: this.#slotCount, chunks: this.#chunks, tails: this.#tails }
  }

  /** Restores the records of an earlier run. The caller must find out which slots are free and `release` them. */
  restore({ slotCount, chunks, tails }: RecordsImage): void {
    if (this.#memory === ownMemory) {
      this.#chunks = [...chunks]
      this.#tails = [...tails]
    } else {
      this.#chunks = chunks.map((chunk, at) => copied(chunk, this.#newChunk(at)))
      this.#tails = tails.map((tail, at) => tail && copied(tail, this.#memory.words('tails', at, tail.length)))
    }
    this.#slotCount = slotCount
  }

  /** The second of the last use by another thread; 0 if there was none, or no other thread. */
  usedElsewhere(slot: number): number {
    const uses = this.#uses[slot >>> CHUNK_SHIFT]
    return uses === undefined ? 0 : Atomics.load(uses, slot & CHUNK_MASK) >>> 0
  }

  #newChunk(at: number): Int32Array {
    if (this.#memory !== ownMemory) this.#uses[at] = this.#memory.words('uses', at, CHUNK_SLOTS)
    return this.#memory.words('records', at, CHUNK_SLOTS * RECORD_WORDS)
  }

  #chunk(slot: number): Int32Array {
    return this.#chunks[slot >>> CHUNK_SHIFT] as Int32Array
  }

  #takeSlot(): number {
    const reused = this.#free
    if (reused !== NONE) {
      this.#free = this.get(reused, NEWER)
      return reused
    }
    const slot = this.#slotCount
    if (slot >= SLOTS_MAX) throw new RangeError(`an index holds at most ${SLOTS_MAX} blobs`)
    // There may be no memory for it.
    if ((slot & CHUNK_MASK) === 0) this.#chunks[slot >>> CHUNK_SHIFT] = this.#newChunk(slot >>> CHUNK_SHIFT)
    this.#slotCount = slot + 1
    return slot
  }

  #setTail(slot: number, word: number, value: number): void {
    const at = slot >>> CHUNK_SHIFT
    const tail = this.#tails[at] ?? this.#memory.words('tails', at, CHUNK_SLOTS * TAIL_WORDS)
    this.#tails[at] = tail
    tail[tailIndex(slot, word)] = value
  }
}

export const TAIL_WORDS = HASH_WORDS_MAX - HASH_WORDS

export const tailIndex = (slot: number, word: number): number => (slot & CHUNK_MASK) * TAIL_WORDS + word - HASH_WORDS

const copied = (from: Int32Array, to: Int32Array): Int32Array => {
  to.set(from)
  return to
}
