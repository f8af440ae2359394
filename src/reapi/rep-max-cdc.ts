import { StatusError } from '../base/status-error.js'
import { ChunkingFunction } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { type Chunking, type Cutter, MORE } from './chunking.js'
import { GearGreatest } from './gear-greatest.js'

/** REAPI RepMaxCdcParams. Chunks have from `minBytes` to twice that, without the end; only a whole blob is smaller. */
export interface RepMaxSizes {
  readonly minBytes: number
  /** How far the best place for an end is looked for beyond the smallest one. */
  readonly horizonBytes: number
}

/**
 * REAPI's REP_MAX_CDC, as published by Ed Schouten ("Content-Defined Chunking with tight chunk size bounds", 2026): among
 * the possible ends of a chunk the one with the greatest gear hash of the 64 bytes before it; as long as that makes a
 * chunk of twice the smallest size or more, the same again for the bytes before that end.
 */
export class RepMaxCdc implements Chunking {
  readonly function = ChunkingFunction.REP_MAX_CDC
  readonly sizes: RepMaxSizes
  readonly maxBytes: number
  readonly windowBytes: number

  /** Throws INVALID_ARGUMENT for invalid sizes. */
  constructor(sizes: RepMaxSizes) {
    const fault = repMaxFault(sizes)
    if (fault !== undefined) throw new StatusError('INVALID_ARGUMENT', fault)
    this.sizes = sizes
    this.maxBytes = 2 * sizes.minBytes - 1
    this.windowBytes = 2 * sizes.minBytes + sizes.horizonBytes
  }

  get announced(): Chunking['announced'] {
    const { minBytes, horizonBytes } = this.sizes
    return { repMaxCdcParams: { minChunkSizeBytes: minBytes, horizonSizeBytes: horizonBytes } }
  }

  cutter(): Cutter {
    return new RepMaxCutter(this.sizes.minBytes | 0, this.windowBytes | 0)
  }
}

/** Why these sizes are invalid; undefined if they are valid. A window is held in memory. */
export const repMaxFault = ({ minBytes, horizonBytes }: RepMaxSizes): string | undefined => {
  const isWithin = minBytes >= MIN_LEAST && minBytes <= MIN_MOST && horizonBytes >= 0
  if (isWithin && horizonBytes <= HORIZON_MOST) return undefined
  const expected = `a minimum from ${MIN_LEAST} to ${MIN_MOST} and a horizon of at most ${HORIZON_MOST}`
  return `chunks cannot be cut with a minimum of ${minBytes} and a horizon of ${horizonBytes} bytes, expected ${expected}`
}

const HASHED_BYTES = 64
const MIN_LEAST = HASHED_BYTES
const MIN_MOST = 1024 * 1024
const HORIZON_MOST = 16 * 1024 * 1024

/** The greatest hash is kept for each block of so many positions. The ends of a search within blocks are hashed again. */
const BLOCK = 4096

/** Positions are ends of chunks, counted from the start of the blob: the hash of one is that of the bytes before it. */
class RepMaxCutter implements Cutter {
  readonly #minBytes: number
  readonly #windowBytes: number
  readonly #blockCount: number
  /** Of each block, by its number modulo their count: the greatest hash, and the first position that has it. */
  readonly #high: Uint32Array
  readonly #low: Uint32Array
  readonly #at: Float64Array
  /** Where the next chunk starts. */
  #start = 0
  /** The next position without a hash. */
  #next = 0
  /** The hash of the position before `#next`, and the greatest of the last search. */
  readonly #gear = new GearGreatest()
  /** The position of the greatest hash of the last search. */
  #best = 0

  constructor(minBytes: number, windowBytes: number) {
    this.#minBytes = minBytes
    this.#windowBytes = windowBytes
    this.#blockCount = Math.ceil(windowBytes / BLOCK) + 2
    this.#high = new Uint32Array(this.#blockCount)
    this.#low = new Uint32Array(this.#blockCount)
    this.#at = new Float64Array(this.#blockCount)
  }

  cut(bytes: Buffer, from: number, to: number, isWhole: boolean): number {
    if (!isWhole && to - from < this.#windowBytes) return MORE
    const sizeBytes = this.#sizeOfNext(bytes, from, Math.min(to - from, this.#windowBytes))
    this.#start += sizeBytes
    return from + sizeBytes
  }

  #sizeOfNext(bytes: Buffer, from: number, knownBytes: number): number {
    const [start, min] = [this.#start, this.#minBytes]
    if (knownBytes < 2 * min) return knownBytes
    const index = from - start
    const first = start + min
    this.#hashUpTo(bytes, index, start + knownBytes - min)
    let end = this.#greatest(bytes, index, first, start + knownBytes - min)
    while (end - start >= 2 * min) end = this.#greatest(bytes, index, first, end - min)
    return end - start
  }

  /** Hashes the positions up to `last`, which is one of this window. `index` is where `bytes` has position 0. */
  #hashUpTo(bytes: Buffer, index: number, last: number): void {
    while (this.#next <= last) {
      const block = Math.floor(this.#next / BLOCK)
      const isNew = this.#next % BLOCK === 0
      const slot = block % this.#blockCount
      if (isNew) this.#begin(this.#next)
      else this.#resume(slot)
      const end = Math.min(last, block * BLOCK + BLOCK - 1)
      this.#scan(bytes, index, this.#next, end)
      this.#next = end + 1
      this.#high[slot] = this.#gear.bestHigh
      this.#low[slot] = this.#gear.bestLow
      this.#at[slot] = this.#best
    }
  }

  /** The first position from `first` to `last` with the greatest hash. Both have been hashed. */
  #greatest(bytes: Buffer, index: number, first: number, last: number): number {
    const firstBlock = Math.ceil(first / BLOCK)
    const endBlock = Math.floor((last + 1) / BLOCK)
    const gear = this.#gear
    const { hashLow, hashHigh } = gear
    this.#begin(first)
    if (firstBlock >= endBlock) this.#again(bytes, index, first, last)
    else {
      this.#again(bytes, index, first, firstBlock * BLOCK - 1)
      for (let block = firstBlock; block < endBlock; block++) {
        const slot = block % this.#blockCount
        const high = this.#high[slot] as number
        const isGreater = high > gear.bestHigh || (high === gear.bestHigh && (this.#low[slot] as number) > gear.bestLow)
        if (isGreater) this.#resume(slot)
      }
      this.#again(bytes, index, endBlock * BLOCK, last)
    }
    gear.hashLow = hashLow
    gear.hashHigh = hashHigh
    return this.#best
  }

  /** Nothing is greater yet. */
  #begin(position: number): void {
    this.#gear.bestHigh = 0
    this.#gear.bestLow = 0
    this.#best = position
  }

  #resume(slot: number): void {
    this.#gear.bestHigh = this.#high[slot] as number
    this.#gear.bestLow = this.#low[slot] as number
    this.#best = this.#at[slot] as number
  }

  /** Hashes positions again, at least 64 behind the start of the window. */
  #again(bytes: Buffer, index: number, first: number, last: number): void {
    if (first > last) return
    const gear = this.#gear
    const { bestHigh, bestLow } = gear
    const best = this.#best
    gear.hashLow = 0
    gear.hashHigh = 0
    this.#scan(bytes, index, first - HASHED_BYTES + 1, first - 1)
    gear.bestHigh = bestHigh
    gear.bestLow = bestLow
    this.#best = best
    this.#scan(bytes, index, first, last)
  }

  /** Hashes fewer than two blocks of positions one after the other, and keeps the first greatest. Nothing lies before position 0. */
  #scan(bytes: Buffer, index: number, first: number, last: number): void {
    const found = this.#gear.find(bytes, index + Math.max(1, first) - 1, index + last)
    if (found >= 0) this.#best = found + 1 - index
  }
}
