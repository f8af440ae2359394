import { CompressionError } from './compression-error.js'
import { DynamicTable } from './dynamic-table.js'
import { type Field, makeField } from './field.js'
import { decodeHuffman } from './huffman.js'
import { type Cursor, readInteger } from './integer.js'
import { STATIC_TABLE } from './static-table.js'

/** The fields of a header block in order: name, value, next name and so on. Each byte is one character below 256. */
export type FieldLines = readonly string[]

export interface DecodedBlock {
  readonly lines: FieldLines
  /** Size of the list as defined by RFC 9113, 6.5.2. */
  readonly listBytes: number
  /** The list exceeds the limit: further fields were decoded but not kept. */
  readonly isTooLarge: boolean
  /** Of the first field that no message may have; undefined if all are valid. */
  readonly problem: string | undefined
  /** The name of that field. */
  readonly problemField: string | undefined
}

/** The initial table size on both sides (RFC 9113, 6.5.2). */
export const DEFAULT_TABLE_BYTES = 4096

const staticFields: readonly Field[] = STATIC_TABLE.map(([name, value]) => makeField(name, value))

/**
 * Decodes the header blocks of a connection in their order (RFC 7541, 3 and 6). Throws a CompressionError, after which
 * no further block can be decoded. The limit applies to the decoded list, so a block that refers to a large entry many
 * times takes no more memory than the limit.
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
    let problem: string | undefined
    let problemField: string | undefined
    while (cursor.at < bytes.length) {
      const field = this.#next(cursor, listBytes > 0)
      if (field === undefined) continue
      listBytes += field.sizeBytes
      if (problem === undefined && field.problem !== undefined) {
        problem = field.problem
        problemField = field.name
      }
      if (listBytes <= this.#maxListBytes) lines.push(field.name, field.value)
    }
    return { lines, listBytes, isTooLarge: listBytes > this.#maxListBytes, problem, problemField }
  }

  /** The next field; undefined if the block changes the table size instead. */
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
    // Without indexing, or never indexed: no difference here, because fields are not forwarded.
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
    return makeField(name, value)
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
