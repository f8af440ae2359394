import { CompressionError } from './compression-error.js'

/** A read position in a header block. */
export interface Cursor {
  readonly bytes: Buffer
  at: number
}

// Enough for the limit of 256 MiB; no integer here is larger.
const MAX_CONTINUATION_BYTES = 4

/** Reads the integer that begins in the low `prefixBits` of the byte at the cursor (RFC 7541, 5.1). */
export const readInteger = (cursor: Cursor, prefixBits: number): number => {
  const limit = (1 << prefixBits) - 1
  let value = byteAt(cursor) & limit
  if (value < limit) return value
  for (let read = 0; read < MAX_CONTINUATION_BYTES; read++) {
    const byte = byteAt(cursor)
    value += (byte & 0x7f) << (7 * read)
    if (byte < 0x80) return value
  }
  throw new CompressionError('an integer of a header block is too large')
}

const byteAt = (cursor: Cursor): number => {
  const byte = cursor.bytes[cursor.at]
  if (byte === undefined) throw new CompressionError('a header block ends within an integer')
  cursor.at += 1
  return byte
}

/** Appends an integer to `to`, with `flags` above its `prefixBits` (RFC 7541, 5.1). */
export const writeInteger = (to: number[], value: number, prefixBits: number, flags: number): void => {
  const limit = (1 << prefixBits) - 1
  if (value < limit) {
    to.push(flags | value)
    return
  }
  to.push(flags | limit)
  let rest = value - limit
  for (; rest > 0x7f; rest >>>= 7) to.push((rest & 0x7f) | 0x80)
  to.push(rest)
}
