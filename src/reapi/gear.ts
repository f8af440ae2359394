import { createHash } from 'node:crypto'

/**
 * The table of the gear hash, for both chunking functions of REAPI: for each byte value 64 bits, which are the first
 * eight bytes of the MD5 of 64 such bytes.
 */
export const gearTable = (): bigint[] =>
  Array.from({ length: 256 }, (_, value) =>
    createHash('md5').update(Buffer.alloc(64, value)).digest().readBigUInt64BE(),
  )
