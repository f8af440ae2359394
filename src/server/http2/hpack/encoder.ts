import { encodeHuffman, huffmanLength } from './huffman.js'
import { writeInteger } from './integer.js'
import { STATIC_TABLE } from './static-table.js'

const indexByField = new Map<string, number>()
const indexByName = new Map<string, number>()
for (const [at, [name, value]] of STATIC_TABLE.entries()) {
  indexByField.set(`${name}\0${value}`, at + 1)
  if (!indexByName.has(name)) indexByName.set(name, at + 1)
}

/** Empties the table of the peer's decoder (RFC 7541, 6.3). */
export const EMPTY_TABLE = Buffer.of(0x20)

/**
 * Encodes a header block (RFC 7541, 6). Names must be in lower case, characters below 256. Does not use a dynamic
 * table, so a block is valid for every connection, and frequent blocks are encoded once.
 */
export const encodeFields = (fields: readonly (readonly [name: string, value: string])[]): Buffer => {
  const bytes: number[] = []
  for (const [name, value] of fields) writeField(bytes, name, value)
  return Buffer.from(bytes)
}

const writeField = (to: number[], name: string, value: string): void => {
  const whole = indexByField.get(`${name}\0${value}`)
  if (whole !== undefined) {
    writeInteger(to, whole, 7, 0x80)
    return
  }
  const nameIndex = indexByName.get(name) ?? 0
  writeInteger(to, nameIndex, 4, 0)
  if (nameIndex === 0) writeString(to, name)
  writeString(to, value)
}

const writeString = (to: number[], value: string): void => {
  const codedBytes = huffmanLength(value)
  if (codedBytes < value.length) {
    writeInteger(to, codedBytes, 7, 0x80)
    encodeHuffman(to, value)
    return
  }
  writeInteger(to, value.length, 7, 0)
  for (let at = 0; at < value.length; at++) to.push(value.charCodeAt(at))
}
