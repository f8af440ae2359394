import { StatusError } from '../base/status-error.js'
import { ChunkingFunction } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { type Chunking, type Cutter, MORE } from './chunking.js'
import { GearScan } from './gear-scan.js'

/** Chunk sizes in bytes. Only the last chunk of a blob may be smaller than `min`. */
export interface ChunkSizes {
  readonly min: number
  readonly normal: number
  readonly max: number
}

/** REAPI FastCdc2020Params: the average determines the other two sizes. */
export const chunkSizesOf = (averageBytes: number): ChunkSizes => ({
  min: averageBytes / 4,
  normal: averageBytes,
  max: averageBytes * 4,
})

/**
 * Finds the ends of content-defined chunks. Implements FastCDC as published in 2020, with normalisation level
 * 2. Gear table and masks are those of REAPI's FAST_CDC_2020, which are those of the Rust crate `fastcdc`
 * (v2020, seed 0).
 */
export class FastCdc implements Chunking {
  readonly function: Chunking['function']
  readonly sizes: ChunkSizes
  readonly #masks: Masks

  /** Throws INVALID_ARGUMENT for invalid sizes. */
  constructor(sizes: ChunkSizes) {
    this.function = isOfReapi(sizes) ? ChunkingFunction.FAST_CDC_2020 : ChunkingFunction.UNKNOWN
    const fault = sizesFault(sizes)
    if (fault !== undefined) throw new StatusError('INVALID_ARGUMENT', fault)
    this.sizes = sizes
    const bits = Math.round(Math.log2(sizes.normal))
    this.#masks = { beforeNormal: maskOf(bits + NORMALISATION), behindNormal: maskOf(bits - NORMALISATION) }
  }

  get announced(): Chunking['announced'] {
    if (this.function === ChunkingFunction.UNKNOWN) return undefined
    return { fastCdc2020Params: { avgChunkSizeBytes: this.sizes.normal, seed: 0 } }
  }

  get maxBytes(): number {
    return this.sizes.max
  }

  get windowBytes(): number {
    return this.sizes.max
  }

  cutter(): Cutter {
    return new FastCutter(this.sizes, this.#masks)
  }
}

interface Masks {
  /** For chunks that are still shorter than normal: one bit pattern of more bits, so that ends are rarer. */
  readonly beforeNormal: bigint
  readonly behindNormal: bigint
}

/** Hashes each byte once, as it arrives, except those before the smallest end. */
class FastCutter implements Cutter {
  readonly #sizes: ChunkSizes
  readonly #masks: Masks
  readonly #scan = new GearScan()
  /** How many bytes of the chunk have been looked at. */
  #scannedBytes = 0

  constructor(sizes: ChunkSizes, masks: Masks) {
    this.#sizes = sizes
    this.#masks = masks
  }

  cut(bytes: Buffer, from: number, to: number, isWhole: boolean): number {
    const { min, normal, max } = this.#sizes
    if (to - from <= min) return isWhole ? to : MORE
    const knownBytes = Math.min(to - from, max)
    // The published algorithm reads bytes in pairs and so ignores the last byte of an odd length.
    const middle = even(Math.min(normal, knownBytes))
    const { beforeNormal, behindNormal } = this.#masks
    this.#scannedBytes = Math.max(this.#scannedBytes, even(min))
    const isFound =
      this.#scanUpTo(middle, bytes, from, beforeNormal) || this.#scanUpTo(even(knownBytes), bytes, from, behindNormal)
    if (!isFound && knownBytes < max && !isWhole) return MORE
    const end = from + (isFound ? this.#scannedBytes : knownBytes)
    this.#scannedBytes = 0
    this.#scan.reset()
    return end
  }

  /** Whether the chunk ends before `end`, counted from its start: then at `#scannedBytes`. */
  #scanUpTo(end: number, bytes: Buffer, from: number, mask: bigint): boolean {
    if (this.#scannedBytes >= end) return false
    this.#scannedBytes = this.#scan.find(bytes, from + this.#scannedBytes, from + end, mask) - from
    return this.#scannedBytes < end
  }
}

/** Why these sizes are invalid; undefined if they are valid. */
export const sizesFault = ({ min, normal, max }: ChunkSizes): string | undefined => {
  const isWithin = normal >= NORMAL_LEAST && normal <= NORMAL_MOST && min >= MIN_LEAST && min <= normal && normal <= max
  if (isWithin && max <= MAX_MOST) return undefined
  const expected = `${MIN_LEAST} <= min <= normal <= max <= ${MAX_MOST}, and normal from ${NORMAL_LEAST} to ${NORMAL_MOST}`
  return `chunks cannot be cut with min ${min}, normal ${normal} and max ${max} bytes, expected ${expected}`
}

const MIN_LEAST = 64
/** Bounds of the available masks. */
const NORMAL_LEAST = 256
const NORMAL_MOST = 8 * 1024 * 1024
/** A chunk is held in memory as a whole. */
const MAX_MOST = 32 * 1024 * 1024

const NORMALISATION = 2

/** Averages that REAPI allows. */
const REAPI_LEAST = 1024
const REAPI_MOST = 1024 * 1024

const isOfReapi = ({ min, normal, max }: ChunkSizes): boolean => {
  const sizes = chunkSizesOf(normal)
  return min === sizes.min && max === sizes.max && normal >= REAPI_LEAST && normal <= REAPI_MOST
}

const even = (count: number): number => count - (count % 2)

const maskOf = (bits: number): bigint => BigInt(MASKS[bits - FIRST_MASK] as number)

/** The published masks with 5 to 25 bits set. A chunk ends where all these bits of the hash are zero. */
const FIRST_MASK = 5
const MASKS = [
  0x0000_0180_4110, 0x0000_0180_3110, 0x0000_1803_5100, 0x0018_0003_5300, 0x0190_0035_3000, 0x5900_0353_0000,
  0xd900_0353_0000, 0xd901_0353_0000, 0xd903_0353_0000, 0xd903_1353_0000, 0xd90f_0353_0000, 0xd903_0353_7000,
  0xd907_0353_7000, 0xd907_0753_7000, 0xd917_0753_7000, 0xd917_4753_7000, 0xd917_6753_7000, 0xd937_6753_7000,
  0xd937_7753_7000, 0xd937_7757_7000, 0xdb37_7757_7000,
] as const
