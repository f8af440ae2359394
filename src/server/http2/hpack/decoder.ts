import { CompressionError } from './compression-error.js'
import { DynamicTable, type Field, fieldBytes } from './dynamic-table.js'
import { decodeHuffman } from './huffman.js'
import { type Cursor, readInteger } from './integer.js'
import { STATIC_TABLE } from './static-table.js'

/** The fields of a header block in their order: a name, its value, the next name and so on. Bytes are characters below 256. */
export type FieldLines = readonly string[]

export interface DecodedBlock {
  readonly lines: FieldLines
  /** What the list counts as (RFC 9113, 6.5.2). */
  readonly listBytes: number
  /** The list is larger than allowed: the fields from there on were understood, but not kept. */
  readonly isTooLarge: boolean
}

/** What both sides begin with (RFC 9113, 6.5.2). */
export const DEFAULT_TABLE_BYTES = 4096

const staticFields: readonly Field[] = STATIC_TABLE.map(([name, value]) => ({
  name,
  value,
  sizeBytes: fieldBytes(name, value),
}))

/**
 * Decodes the header blocks of a connection, in the order they came (RFC 7541, 3 and 6). Throws a CompressionError,
 * after which nothing more can be decoded. A block that names a large entry again and again is measured as the list it
 * stands for, and costs no more memory than the limit.
 */
export class HeaderDecoder {
  readonly #table: DynamicTable
  readonly #maxTableBytes: number
  readonly #maxListBytes: number

  constructor(maxListBytes: number, maxTableBytes = DEFAULT_TABLE_BYTES) {
    this.#maxListBytes = maxListBytes
    this.#maxTableBytes = maxTableBytes
    this.#table = new DynamicTable(maxTableBytes)
  }

  decode(bytes: Buffer): DecodedBlock {
    const cursor: Cursor = { bytes, at: 0 }
    const lines: string[] = []
    let listBytes = 0
    while (cursor.at < bytes.length) {
      const field = this.#next(cursor, listBytes > 0)
      if (field === undefined) continue
      listBytes += field.sizeBytes
      if (listBytes <= this.#maxListBytes) lines.push(field.name, field.value)
    }
    return { lines, listBytes, isTooLarge: listBytes > this.#maxListBytes }
  }

  /** The next field, undefined where the block changes the size of the table instead. */
  #next(cursor: Cursor, hasBegun: boolean): Field | undefined {
    const first = cursor.bytes[cursor.at] as number
    if (first >= 0x80) return this.#indexed(readInteger(cursor, 7))
    if (first >= 0x40) {
      const field = this.#literal(cursor, 6)
      this.#table.add(field)
      return field
    }
    if (first >= 0x20) {
      this.#resize(readInteger(cursor, 5), hasBegun)
      return undefined
    }
    // Without indexing, or never to be indexed by anyone: the same for who does not pass it on.
    return this.#literal(cursor, 4)
  }

  #indexed(index: number): Field {
    const field =
      index <= staticFields.length ? staticFields[index - 1] : this.#table.get(index - staticFields.length - 1)
    if (field === undefined) throw new CompressionError(`a header block names entry ${index}, which does not exist`)
    return field
  }

  #literal(cursor: Cursor, prefixBits: number): Field {
    const index = readInteger(cursor, prefixBits)
    const name = index === 0 ? readString(cursor) : this.#indexed(index).name
    const value = readString(cursor)
    return { name, value, sizeBytes: fieldBytes(name, value) }
  }

  #resize(maxBytes: number, hasBegun: boolean): void {
    if (hasBegun) throw new CompressionError('the size of the table changes within a header block')
    if (maxBytes > this.#maxTableBytes) {
      throw new CompressionError(`the table is set to ${maxBytes} bytes, expected at most ${this.#maxTableBytes}`)
    }
    this.#table.resize(maxBytes)
  }
}

/** A string literal (RFC 7541, 5.2). */
const readString = (cursor: Cursor): string => {
  const isHuffman = ((cursor.bytes[cursor.at] ?? 0) & 0x80) !== 0
  const length = readInteger(cursor, 7)
  const start = cursor.at
  const end = start + length
  if (end > cursor.bytes.length) throw new CompressionError('a header block ends within a string')
  cursor.at = end
  return isHuffman ? decodeHuffman(cursor.bytes, start, end) : cursor.bytes.toString('latin1', start, end)
}
