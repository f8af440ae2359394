import { StatusError } from '../base/status-error.js'
import { ChunkingFunction } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Chunking, Cutter } from './chunking.js'
import { gearTable } from './gear.js'

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
export class FastCdc implements Chunking, Cutter {
  readonly function: Chunking['function']
  readonly sizes: ChunkSizes
  readonly #beforeNormal: Mask
  readonly #behindNormal: Mask
  #low = 0
  #high = 0

  /** Throws INVALID_ARGUMENT for invalid sizes. */
  constructor(sizes: ChunkSizes) {
    this.function = isOfReapi(sizes) ? ChunkingFunction.FAST_CDC_2020 : ChunkingFunction.UNKNOWN
    const fault = sizesFault(sizes)
    if (fault !== undefined) throw new StatusError('INVALID_ARGUMENT', fault)
    // `| 0` makes small integers for V8. The result of a division stays a double, as do all positions derived
    // from it, at half the speed.
    this.sizes = { min: sizes.min | 0, normal: sizes.normal | 0, max: sizes.max | 0 }
    const bits = Math.round(Math.log2(sizes.normal))
    this.#beforeNormal = maskOf(bits + NORMALISATION)
    this.#behindNormal = maskOf(bits - NORMALISATION)
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

  /** Cuts without looking at what lies before a chunk, so one cutter is enough for all blobs. */
  cutter(): Cutter {
    return this
  }

  cut(bytes: Uint8Array, from: number, to: number): number {
    const { min, normal, max } = this.sizes
    if (to - from <= min) return to
    const end = Math.min(to, from + max)
    // The published algorithm reads bytes in pairs and so ignores the last byte of an odd length.
    const middle = from + even(Math.min(normal, end - from))
    const last = from + even(end - from)
    this.#low = 0
    this.#high = 0
    const early = this.#scan(bytes, from + even(min), middle, this.#beforeNormal)
    if (early < middle) return early
    const late = this.#scan(bytes, middle, last, this.#behindNormal)
    return late < last ? late : end
  }

  /**
   * Returns the first position where the hash matches the mask, or `to`. Each step doubles the hash and adds
   * the gear value of the byte. No mask uses bits above 47, so the hash is held as two halves of 24 bits,
   * which V8 adds as small integers. Tables and masks must be local variables, else the loop runs at a third
   * of the speed.
   */
  #scan(bytes: Uint8Array, from: number, to: number, { low: maskLow, high: maskHigh }: Mask): number {
    const gearLow = GEAR_LOW
    const gearHigh = GEAR_HIGH
    let low = this.#low
    let high = this.#high
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number
      low = ((low << 1) + (gearLow[byte] as number)) | 0
      high = ((high << 1) + (gearHigh[byte] as number) + (low >>> HALF_BITS)) | 0
      low &= HALF
      if ((high & maskHigh) === 0 && (low & maskLow) === 0) return at
    }
    this.#low = low
    this.#high = high
    return to
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

const HALF_BITS = 24
const HALF = 0xff_ffff

/** Only the lower 48 bits are used. */
const GEAR_HIGH = Int32Array.from(gearTable(HALF_BITS, HALF_BITS))
const GEAR_LOW = Int32Array.from(gearTable(0, HALF_BITS))

interface Mask {
  readonly low: number
  readonly high: number
}

const maskOf = (bits: number): Mask => {
  const mask = MASKS[bits - FIRST_MASK] as number
  return { low: mask % (HALF + 1), high: Math.floor(mask / (HALF + 1)) }
}

/** The published masks with 5 to 25 bits set. A chunk ends where all these bits of the hash are zero. */
const FIRST_MASK = 5
const MASKS = [
  0x0000_0180_4110, 0x0000_0180_3110, 0x0000_1803_5100, 0x0018_0003_5300, 0x0190_0035_3000, 0x5900_0353_0000,
  0xd900_0353_0000, 0xd901_0353_0000, 0xd903_0353_0000, 0xd903_1353_0000, 0xd90f_0353_0000, 0xd903_0353_7000,
  0xd907_0353_7000, 0xd907_0753_7000, 0xd917_0753_7000, 0xd917_4753_7000, 0xd917_6753_7000, 0xd937_6753_7000,
  0xd937_7753_7000, 0xd937_7757_7000, 0xdb37_7757_7000,
] as const
