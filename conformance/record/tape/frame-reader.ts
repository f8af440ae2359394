import { gunzipSync } from 'node:zlib'

const HEAD_BYTES = 5

/** Splits one direction of a gRPC call into messages as bytes arrive. */
export class FrameReader {
  readonly #encoding: string | undefined
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #wantedBytes = HEAD_BYTES

  /** `encoding` is the call's `grpc-encoding`; gzip and identity are supported. */
  constructor(encoding: string | undefined) {
    this.#encoding = encoding
  }

  /** The messages that this chunk completes. Throws for a compressed message of an unknown encoding. */
  push(chunk: Buffer): Buffer[] {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes < this.#wantedBytes) return []
    const messages: Buffer[] = []
    let bytes = Buffer.concat(this.#waiting)
    this.#wantedBytes = HEAD_BYTES
    while (bytes.length >= HEAD_BYTES) {
      const endAt = HEAD_BYTES + bytes.readUInt32BE(1)
      if (bytes.length < endAt) {
        this.#wantedBytes = endAt
        break
      }
      messages.push(this.#plain(bytes.readUInt8() !== 0, bytes.subarray(HEAD_BYTES, endAt)))
      bytes = bytes.subarray(endAt)
    }
    this.#waiting = [bytes]
    this.#waitingBytes = bytes.length
    return messages
  }

  #plain(isCompressed: boolean, bytes: Buffer): Buffer {
    if (!isCompressed) return bytes
    if (this.#encoding === 'gzip') return gunzipSync(bytes)
    throw new Error(`a compressed message of grpc-encoding ${this.#encoding ?? 'none'}: gzip and identity can be read`)
  }
}
