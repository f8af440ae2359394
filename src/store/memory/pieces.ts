import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../../stream/path.js'

/** Blobs that come as streams are kept in pieces of this length, so that a large one is neither one allocation nor ever moved. */
const PIECE_BYTES = 256 * 1024

/** Smaller ones are copied: each piece that is kept costs some memory beside its bytes. */
const KEPT_BYTES = 16 * 1024

/** What all uploads of a store that are under way hold together, of at most so much. */
export class UploadRoom {
  readonly #maxBytes: number
  #takenBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether it was there to be taken. */
  take(bytes: number): boolean {
    if (this.#takenBytes + bytes > this.#maxBytes) return false
    this.#takenBytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes
  }
}

interface PiecesParts {
  readonly room: UploadRoom
  fits(sizeBytes: number): boolean
}

/** What one upload leaves, as it comes. */
export class Pieces {
  readonly #parts: PiecesParts
  readonly #pieces: Buffer[] = []
  #sizeBytes = 0
  #takenBytes = 0
  /** How much of the last piece is filled, where that is one of ours. */
  #filledBytes = PIECE_BYTES

  constructor(parts: PiecesParts) {
    this.#parts = parts
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Bytes that are only lent, as a `FeedTaker`: copied into buffers of our own. */
  take(bytes: Buffer): Promise<void> | undefined {
    const refusal = this.#refusalOf(bytes.length)
    if (refusal !== undefined) return Promise.reject(refusal)
    for (let at = 0; at < bytes.length; ) {
      if (this.#filledBytes === PIECE_BYTES) this.#begin(Buffer.allocUnsafeSlow(PIECE_BYTES), 0)
      const copiedBytes = bytes.copy(this.#pieces.at(-1) as Buffer, this.#filledBytes, at)
      at += copiedBytes
      this.#filledBytes += copiedBytes
    }
    return undefined
  }

  /**
   * Bytes that nobody writes to any more: kept without a copy where they have their memory to themselves. A slice of a 4 MiB message must not
   * keep the whole message alive.
   */
  keep(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length < KEPT_BYTES || bytes.length !== bytes.buffer.byteLength) return this.take(bytes)
    const refusal = this.#refusalOf(bytes.length)
    if (refusal !== undefined) return Promise.reject(refusal)
    this.#end()
    this.#begin(bytes, PIECE_BYTES)
    return undefined
  }

  /** No more comes: what there is. */
  end(): readonly Buffer[] {
    this.#end()
    return this.#pieces
  }

  #refusalOf(bytes: number): StatusError | undefined {
    const { room, fits } = this.#parts
    this.#sizeBytes += bytes
    if (!fits(this.#sizeBytes)) return tooLargeToKeep(this.#sizeBytes)
    if (!room.take(bytes)) {
      return new StatusError(
        'RESOURCE_EXHAUSTED',
        'uploads under way hold all the memory that max_bytes lets them have',
      )
    }
    this.#takenBytes += bytes
    return undefined
  }

  #begin(piece: Buffer, filledBytes: number): void {
    this.#pieces.push(piece)
    this.#filledBytes = filledBytes
  }

  /** Gives back what is not filled of the last piece. */
  #end(): void {
    if (this.#filledBytes === PIECE_BYTES) return
    this.#begin(own((this.#pieces.pop() as Buffer).subarray(0, this.#filledBytes)), PIECE_BYTES)
  }

  /** The upload is over, however it ended. */
  close(): void {
    this.#parts.room.giveBack(this.#takenBytes)
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

/** The bytes of several pieces from `offset` up to `end`, which it keeps alive though the store may forget them. */
export const readPieces = (pieces: readonly Buffer[], offset: number, end: number): Readable =>
  Readable.from(partsOf(pieces, offset, end), { objectMode: false, highWaterMark: STAGE_BYTES })

function* partsOf(pieces: readonly Buffer[], offset: number, end: number): Generator<Buffer> {
  let at = 0
  for (const piece of pieces) {
    if (at >= end) return
    const part = piece.subarray(Math.max(0, offset - at), end - at)
    at += piece.length
    if (part.length > 0) yield part
  }
}
