import { Readable, Writable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../../stream/path.js'

/** Blobs are kept in pieces of at most this, so that a large one is neither one allocation nor ever moved. */
const PIECE_BYTES = 256 * 1024

interface MemorySinkParts {
  fits(sizeBytes: number): boolean
  commit(pieces: readonly Buffer[], sizeBytes: number): void
}

/** Copies each byte once, into buffers of its own: a slice of a 4 MiB message must not keep the whole message alive. */
export class MemorySink extends Writable {
  readonly #parts: MemorySinkParts
  readonly #pieces: Buffer[] = []
  #sizeBytes = 0
  #last: Buffer | undefined
  #lastUsedBytes = 0

  constructor(parts: MemorySinkParts) {
    super({ highWaterMark: STAGE_BYTES })
    this.#parts = parts
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    const sizeBytes = this.#sizeBytes + chunk.length
    if (!this.#parts.fits(sizeBytes)) {
      callback(tooLargeToKeep(sizeBytes))
      return
    }
    let rest = chunk
    while (rest.length > 0) rest = this.#append(rest)
    callback()
  }

  override _final(callback: () => void): void {
    if (this.#last !== undefined && this.#lastUsedBytes < this.#last.length) {
      this.#pieces[this.#pieces.length - 1] = own(this.#last.subarray(0, this.#lastUsedBytes))
    }
    this.#parts.commit(this.#pieces, this.#sizeBytes)
    callback()
  }

  /** Puts as much as fits behind what is there; answers the rest. */
  #append(bytes: Buffer): Buffer {
    let last = this.#last
    if (last === undefined || this.#lastUsedBytes === last.length) {
      // The first piece fits its chunk, later ones double what is there: small blobs cost what they are.
      last = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(bytes.length, this.#sizeBytes)))
      this.#last = last
      this.#lastUsedBytes = 0
      this.#pieces.push(last)
    }
    const copiedBytes = bytes.copy(last, this.#lastUsedBytes)
    this.#lastUsedBytes += copiedBytes
    this.#sizeBytes += copiedBytes
    return bytes.subarray(copiedBytes)
  }
}

export const tooLargeToKeep = (sizeBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `a blob of ${sizeBytes} bytes or more exceeds max_bytes of this store`)

/** Not from Node's pool, where one small blob that stays would keep the memory of its evicted neighbours. */
export const own = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/** Reads the bytes from `offset` up to `end` of a blob in pieces, which it keeps alive though the store may forget them. */
export class MemorySource extends Readable {
  readonly #pieces: readonly Buffer[]
  readonly #end: number
  #offset: number
  #index = 0
  #indexOffset = 0

  constructor(pieces: readonly Buffer[], offset: number, end: number) {
    super({ highWaterMark: STAGE_BYTES })
    this.#pieces = pieces
    this.#offset = offset
    this.#end = end
  }

  override _read(): void {
    while (this.#offset < this.#end) {
      const piece = this.#pieces[this.#index]
      if (piece === undefined) break
      const from = this.#offset - this.#indexOffset
      const to = Math.min(piece.length, this.#end - this.#indexOffset)
      if (from < to) {
        this.#offset += to - from
        if (!this.push(piece.subarray(from, to))) return
      }
      if (this.#offset >= this.#indexOffset + piece.length) {
        this.#indexOffset += piece.length
        this.#index += 1
      }
    }
    this.push(null)
  }
}
