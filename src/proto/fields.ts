import { StatusError } from '../base/status-error.js'

const VARINT = 0
const FIXED64 = 1
export const LENGTH_DELIMITED = 2
const FIXED32 = 5

/**
 * Walks over the fields of an encoded message, for callers that need few of them: many times faster than decoding. The
 * fields of the message inside a field are walked with `from` and `to`. Throws INVALID_ARGUMENT that names `typeName`
 * for invalid bytes; groups, which no message of ours has, are invalid too.
 */
export class Fields {
  /** The current field. */
  number = 0
  /** Position of its tag. */
  start = 0
  /** Position of its value; for a field with a length (bytes, text, message) behind the length. */
  from = 0
  to = 0
  readonly #bytes: Uint8Array
  readonly #typeName: string
  readonly #end: number
  #at: number
  #left: number

  /** `maxFields` bounds the time for bytes of a stranger: a message with more fields is invalid. */
  constructor(bytes: Uint8Array, typeName: string, from = 0, to = bytes.length, maxFields = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes
    this.#typeName = typeName
    this.#at = from
    this.#end = to
    this.#left = maxFields
  }

  /** Moves to the next field that has a length; false at the end. */
  next(): boolean {
    while (this.#at < this.#end) {
      if (this.#left-- === 0) throw this.#invalid('it has more fields than any message of its kind')
      this.start = this.#at
      const tag = this.#varint()
      const wireType = tag & 7
      if (wireType === VARINT) this.#varint()
      else if (wireType === FIXED64) this.#skip(8)
      else if (wireType === FIXED32) this.#skip(4)
      else if (wireType === LENGTH_DELIMITED && tag > LENGTH_DELIMITED) {
        const sizeBytes = this.#varint()
        this.number = tag >>> 3
        this.from = this.#at
        this.#skip(sizeBytes)
        this.to = this.#at
        return true
      } else throw this.#invalid(`wire type ${wireType} at byte ${this.start}`)
    }
    return false
  }

  /** The lower 32 bits of a varint. */
  #varint(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw this.#invalid(`it ends inside of a field, after byte ${this.#end}`)
      const byte = this.#bytes[this.#at++] as number
      if (shift < 32) value |= (byte & 127) << shift
      if (byte < 128) return value >>> 0
    }
    throw this.#invalid(`a number that is too long at byte ${this.#at}`)
  }

  #skip(sizeBytes: number): void {
    if (sizeBytes > this.#end - this.#at) throw this.#invalid(`it ends inside of a field, after byte ${this.#end}`)
    this.#at += sizeBytes
  }

  #invalid(reason: string): StatusError {
    return new StatusError('INVALID_ARGUMENT', `the bytes are not a valid ${this.#typeName}: ${reason}`)
  }
}

/** Writes tag and length of a field whose value has `sizeBytes`. Returns the position behind them. */
export const writeFieldHead = (into: Buffer, at: number, number: number, sizeBytes: number): number =>
  writeVarint(into, writeVarint(into, at, number * 8 + LENGTH_DELIMITED), sizeBytes)

const writeVarint = (into: Buffer, at: number, value: number): number => {
  let position = at
  let rest = value
  for (; rest > 127; rest >>>= 7) into[position++] = (rest & 127) | 128
  into[position++] = rest
  return position
}
