import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { DIGEST_HEAD_WORDS } from '../../proto/find-missing-codec.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type BlobKind, HASH, INLINE, PACKED } from './entries.js'
import { type Grown, type IndexShare, PARTITIONS, type Piece } from './memory.js'
import { FUNCTION_SHIFT, HIGH_MASK, Probe, WORD } from './probe.js'
import {
  CHUNK_SHIFT,
  CHUNK_SLOTS,
  EXTRA,
  HASH_WORDS,
  NONE,
  RECORD_WORDS,
  SIZE_HIGH,
  SIZE_LOW,
  STORED_HIGH,
  STORED_LOW,
  tailIndex,
} from './records.js'
import { codeOf, PARTITION_SHIFT } from './slot-table.js'

const CHUNK_MASK = CHUNK_SLOTS - 1
/** Looks at a partition that the owner changes before the reader sleeps: the owner may wait for a processor. */
const SPINS = 200
const NAP_MS = 1
/** Uses are reported once per period of 2^4 seconds, as those of the owner are. */
const USE_SHIFT = 4

/** A blob as it was found. */
export interface FoundBlob {
  readonly slot: number
  readonly storedBytes: number
  readonly kind: BlobKind
  readonly extra: number
  /** Whether the key is known to be the hash of the content. */
  readonly isHash: boolean
}

/**
 * Finds blobs in an index that another thread owns, without a lock and without asking. A use is written into shared memory
 * before the lookup is over, so that no eviction fits between: the owner removes a blob from the table first, and only then
 * looks at its last use (`BlobIndex.evict`).
 */
export class IndexReader {
  readonly #sequences: Int32Array
  readonly #generations: Int32Array
  readonly #port: MessagePort
  readonly #seed: number
  readonly #arrays: Record<Piece, Int32Array[]> = { records: [], tails: [], uses: [], table: [], claims: [] }
  /** The generation of each partition's array. */
  readonly #known = new Int32Array(PARTITIONS)
  readonly #probe = new Probe()
  /** The record that was read last. */
  #storedHigh = 0
  #storedLow = 0
  #extra = 0
  /** Slots whose use the owner has not been told, by the period of the use. */
  readonly #used = new Set<number>()
  /** Called when the first of the uses waits to be told. */
  onUsed: (() => void) | undefined

  constructor({ header, port, seed }: IndexShare) {
    this.#sequences = new Int32Array(header, 0, PARTITIONS)
    this.#generations = new Int32Array(header, 4 * PARTITIONS, PARTITIONS)
    this.#port = port
    this.#seed = seed
    this.#grow()
  }

  /** Undefined if the blob is absent. With `usedS`, a present blob counts as used at this second. */
  find(digest: Digest, usedS?: number): FoundBlob | undefined {
    const probe = this.#probe
    probe.load(digest)
    const slot = this.#find(probe, usedS)
    if (slot === NONE) return undefined
    const storedBytes = (this.#storedHigh & HIGH_MASK) * WORD + (this.#storedLow >>> 0)
    const isHash = (this.#storedHigh & HASH) !== 0
    return { slot, storedBytes, kind: this.#kind, extra: this.#extra, isHash }
  }

  get #kind(): BlobKind {
    if ((this.#storedHigh & INLINE) !== 0) return 'bytes'
    return (this.#storedHigh & PACKED) === 0 ? 'file' : 'packed'
  }

  /** Returns the absent digests in the order given. Present ones count as used. */
  missing(batch: DigestBatch, usedS: number, visit?: (slot: number) => void): DigestBatch {
    const { words, wordsEach } = batch
    const functionWord = batch.function.value << FUNCTION_SHIFT
    const wordCount = wordsEach - DIGEST_HEAD_WORDS
    const absent: number[] = []
    for (let position = 0, first = 0; position < batch.count; position++, first += wordsEach) {
      const sizeHigh = (words[first] as number) | functionWord
      this.#probe.refer(sizeHigh, words[first + 1] as number, words, first + DIGEST_HEAD_WORDS, wordCount)
      const slot = this.#find(this.#probe, usedS)
      if (slot === NONE) absent.push(position)
      else visit?.(slot)
    }
    return batch.select(absent)
  }

  /** The slots that were used since the last call. */
  takeUsed(): Int32Array {
    const used = Int32Array.from(this.#used)
    this.#used.clear()
    return used
  }

  /** A word of the claims on a slot; 0 if it has none. */
  claimWord(slot: number, wordsEach: number, word: number): number {
    const claims = this.#arrays.claims[slot >>> CHUNK_SHIFT]
    return claims === undefined ? 0 : Atomics.load(claims, (slot & CHUNK_MASK) * wordsEach + word)
  }

  #find(probe: Probe, usedS: number | undefined): number {
    const { words, first } = probe
    const code = codeOf(words[first] as number, words[first + 1] as number, this.#seed)
    const partition = code >>> PARTITION_SHIFT
    for (let spins = 0; ; spins++) {
      const before = Atomics.load(this.#sequences, partition)
      if ((before & 1) !== 0) {
        if (spins >= SPINS) Atomics.wait(this.#sequences, partition, before, NAP_MS)
        continue
      }
      const slot = this.#look(probe, code, partition)
      const reported = slot !== NONE && usedS !== undefined && this.#use(slot, usedS)
      if (Atomics.load(this.#sequences, partition) !== before) continue
      if (reported && this.#used.add(slot).size === 1) this.onUsed?.()
      return slot
    }
  }

  /** What it finds is right only if the sequence number has not changed. */
  #look(probe: Probe, code: number, partition: number): number {
    const entries = this.#partition(partition)
    const mask = entries.length - 1
    for (let at = (code << 1) & mask, steps = 0; steps <= mask; at = (at + 2) & mask, steps += 2) {
      const slotPlusOne = Atomics.load(entries, at)
      if (slotPlusOne === 0) return NONE
      if (Atomics.load(entries, at + 1) === code && this.#matches(slotPlusOne - 1, probe)) return slotPlusOne - 1
    }
    return NONE
  }

  #partition(partition: number): Int32Array {
    const generation = Atomics.load(this.#generations, partition)
    if (this.#known[partition] !== generation) {
      this.#grow()
      this.#known[partition] = generation
    }
    return this.#arrays.table[partition] ?? EMPTY
  }

  #matches(slot: number, probe: Probe): boolean {
    const chunk = this.#chunk('records', slot)
    if (chunk === undefined) return false
    const base = (slot & CHUNK_MASK) * RECORD_WORDS
    const { words, first } = probe
    if (Atomics.load(chunk, base + SIZE_HIGH) !== probe.sizeHighAndFunction) return false
    if (Atomics.load(chunk, base + SIZE_LOW) !== probe.sizeLow) return false
    probe.complete()
    const inRecord = Math.min(probe.wordCount, HASH_WORDS)
    for (let word = 0; word < inRecord; word++)
      if (Atomics.load(chunk, base + word) !== words[first + word]) return false
    if (probe.wordCount > HASH_WORDS && !this.#matchesTail(slot, probe)) return false
    this.#storedHigh = Atomics.load(chunk, base + STORED_HIGH)
    this.#storedLow = Atomics.load(chunk, base + STORED_LOW)
    this.#extra = Atomics.load(chunk, base + EXTRA)
    return true
  }

  #matchesTail(slot: number, { words, first, wordCount }: Probe): boolean {
    const tail = this.#chunk('tails', slot)
    if (tail === undefined) return false
    for (let word = HASH_WORDS; word < wordCount; word++)
      if (Atomics.load(tail, tailIndex(slot, word)) !== words[first + word]) return false
    return true
  }

  /** Writes a use. Returns whether the owner must be told. */
  #use(slot: number, usedS: number): boolean {
    const uses = this.#chunk('uses', slot)
    if (uses === undefined) return false
    const before = Atomics.load(uses, slot & CHUNK_MASK)
    if (before !== usedS) Atomics.store(uses, slot & CHUNK_MASK, usedS)
    return before >>> USE_SHIFT !== usedS >>> USE_SHIFT
  }

  /** Undefined only for a slot that was read while the owner changed it. */
  #chunk(piece: 'records' | 'tails' | 'uses', slot: number): Int32Array | undefined {
    const at = slot >>> CHUNK_SHIFT
    if (this.#arrays[piece][at] === undefined) this.#grow()
    return this.#arrays[piece][at]
  }

  #grow(): void {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const { piece, at, buffer } = got.message as Grown
      this.#arrays[piece][at] = new Int32Array(buffer)
    }
  }
}

const EMPTY = new Int32Array(2)
