import { createHash } from 'node:crypto'

// FastCDC after the paper of 2020 (Xia et al.), at normalization level 2 as the API requires.

/**
 * High and low halves of the 64-bit gear value of each byte: the first eight bytes of the MD5 of 64 such bytes. The
 * published vectors and both implementations named by the API use these values.
 */
export const gearOf = (byte: number): readonly [number, number] => {
  const hash = createHash('md5').update(Buffer.alloc(64, byte)).digest()
  return [hash.readUInt32BE(0), hash.readUInt32BE(4)]
}

/** Indexed by the logarithm of a chunk size, from 5: the bits of the rolling hash that must be zero at a cut. */
const MASKS: readonly (readonly [number, number])[] = [
  [0x0000, 0x01804110],
  [0x0000, 0x01803110],
  [0x0000, 0x18035100],
  [0x0018, 0x00035300],
  [0x0190, 0x00353000],
  [0x5900, 0x03530000],
  [0xd900, 0x03530000],
  [0xd901, 0x03530000],
  [0xd903, 0x03530000],
  [0xd903, 0x13530000],
  [0xd90f, 0x03530000],
  [0xd903, 0x03537000],
  [0xd907, 0x03537000],
  [0xd907, 0x07537000],
  [0xd917, 0x07537000],
  [0xd917, 0x47537000],
  [0xd917, 0x67537000],
  [0xd937, 0x67537000],
  [0xd937, 0x77537000],
  [0xd937, 0x77577000],
  [0xdb37, 0x77577000],
]
const NORMALIZATION = 2

const maskOf = (bits: number): readonly [number, number] => MASKS[bits - 5] ?? [0, 0]

/** The chunk lengths of `bytes` for this average size (a power of two) and seed. */
export const fastCdcLengths = (bytes: Uint8Array, averageBytes: number, seed = 0): number[] => {
  const cutter = new Cutter(averageBytes, seed)
  const lengths: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = cutter.firstLength(bytes.subarray(at, at + averageBytes * 4))
    lengths.push(length)
    at += length
  }
  return lengths
}

class Cutter {
  readonly #averageBytes: number
  readonly #high = new Uint32Array(256)
  readonly #low = new Uint32Array(256)
  readonly #small: readonly [number, number]
  readonly #large: readonly [number, number]

  constructor(averageBytes: number, seed: number) {
    const bits = Math.round(Math.log2(averageBytes))
    this.#averageBytes = averageBytes
    this.#small = maskOf(bits + NORMALIZATION)
    this.#large = maskOf(bits - NORMALIZATION)
    for (let byte = 0; byte < 256; byte++) {
      const [high, low] = gearOf(byte)
      this.#high[byte] = high
      this.#low[byte] = low ^ seed
    }
  }

  /** `bytes` is at most the largest chunk. The scan starts after the smallest chunk, with a hash of zero. */
  firstLength(bytes: Uint8Array): number {
    const least = this.#averageBytes / 4
    if (bytes.length <= least) return bytes.length
    const center = Math.min(this.#averageBytes, bytes.length)
    let [high, low] = [0, 0]
    for (let at = least; at < bytes.length - (bytes.length % 2); at++) {
      const [maskHigh, maskLow] = at < center - (center % 2) ? this.#small : this.#large
      const byte = bytes[at] ?? 0
      const sum = ((low << 1) >>> 0) + (this.#low[byte] ?? 0)
      high = (((high << 1) | (low >>> 31)) + (this.#high[byte] ?? 0) + (sum > 0xffffffff ? 1 : 0)) >>> 0
      low = sum >>> 0
      if ((high & maskHigh) === 0 && (low & maskLow) === 0) return at
    }
    return bytes.length
  }
}
