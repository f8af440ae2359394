import { createHash } from 'node:crypto'

/**
 * The table of the gear hash, for both chunking functions of REAPI: for each byte value 64 bits, which are the first
 * eight bytes of the MD5 of 64 such bytes. `bits` of them, from `shift` bits above the lowest, at most 32.
 */
export const gearTable = (shift: number, bits: number): number[] =>
  Array.from({ length: 256 }, (_, value) => {
    const digest = createHash('md5').update(Buffer.alloc(64, value)).digest()
    return Number((digest.readBigUInt64BE() >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n))
  })
