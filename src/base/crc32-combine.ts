/** The polynomial of CRC-32, with its bits reversed. */
const POLYNOMIAL = 0xedb8_8320

/** A matrix of 32 by 32 bits: the image of each bit. */
type Matrix = Uint32Array

const times = (matrix: Matrix, vector: number): number => {
  let sum = 0
  for (let [rest, bit] = [vector >>> 0, 0]; rest !== 0; rest >>>= 1, bit++)
    if ((rest & 1) !== 0) sum ^= matrix[bit] as number
  return sum >>> 0
}

const squared = (matrix: Matrix): Matrix => matrix.map((column) => times(matrix, column))

/** What one zero bit does to a CRC. */
const ZERO_BIT: Matrix = Uint32Array.from({ length: 32 }, (_, bit) => (bit === 0 ? POLYNOMIAL : 2 ** (bit - 1)))

/** By power of two: what so many zero bytes do to a CRC. */
const ZERO_BYTES: Matrix[] = [squared(squared(squared(ZERO_BIT)))]

/** The CRC-32 of two pieces one behind the other, from the CRC of each and the length of the second. */
export const crc32Combine = (first: number, second: number, secondBytes: number): number => {
  let crc = first
  for (let [rest, power] = [secondBytes, 0]; rest > 0; rest = Math.floor(rest / 2), power++) {
    ZERO_BYTES[power] ??= squared(ZERO_BYTES[power - 1] as Matrix)
    if (rest % 2 === 1) crc = times(ZERO_BYTES[power] as Matrix, crc)
  }
  return (crc ^ second) >>> 0
}
