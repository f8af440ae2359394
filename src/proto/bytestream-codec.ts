/** An encoded message: a Buffer, or for large messages a value that is written directly into the target. */
export interface Encoded {
  readonly byteLength: number
  copy(target: Uint8Array, targetStart: number): number
  /** The parts of the message in order, for transports that can send them without joining. */
  readonly parts?: readonly Uint8Array[]
}

const DATA_TAG = (10 << 3) | 2

/**
 * A `google.bytestream.ReadResponse`, which carries all bytes that clients read: a short head, and the data
 * without a copy.
 */
class ReadResponseBytes implements Encoded {
  readonly byteLength: number
  readonly parts: readonly [Buffer, Uint8Array]

  constructor(data: Uint8Array) {
    const head = headOf(data.length)
    this.parts = [head, data]
    this.byteLength = head.length + data.length
  }

  copy(target: Uint8Array, targetStart: number): number {
    const [head, data] = this.parts
    target.set(head, targetStart)
    target.set(data, targetStart + head.length)
    return this.byteLength
  }
}

export const gatherReadResponse = ({ data }: { readonly data?: Uint8Array | undefined }): Encoded =>
  data === undefined || data.length === 0 ? NOTHING : new ReadResponseBytes(data)

/**
 * Encodes into one allocation. The generated encoder collects parts first: it takes 45 µs for 64 KiB, this
 * function 11 µs.
 */
export const encodeReadResponse = (message: { readonly data?: Uint8Array | undefined }): Buffer => {
  const gathered = gatherReadResponse(message)
  const bytes = Buffer.allocUnsafe(gathered.byteLength)
  gathered.copy(bytes, 0)
  return bytes
}

const NOTHING = Buffer.alloc(0)

/** The tag of the field, and its length as a varint. */
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
