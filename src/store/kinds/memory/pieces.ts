import { Readable } from 'node:stream'
import { StatusError } from '../../../base/status-error.js'
import type { InFlight } from '../../../ledger/bytes-in-flight.js'
import { STAGE_BYTES } from '../../../stream/path.js'

/**
 * Streamed blobs are kept in pieces of this length, so that a large blob is neither one allocation nor ever copied as a
 * whole.
 */
const PIECE_BYTES = 256 * 1024

/** Smaller pieces are copied, because each piece that is kept costs memory beside its bytes. */
const KEPT_BYTES = 16 * 1024

interface PiecesParts {
  /** Counts the bytes of this upload. */
  readonly inFlight: InFlight
  fits(sizeBytes: number): boolean
}

/** The bytes of one upload, as they arrive. */
export class Pieces {
  readonly #parts: PiecesParts
  readonly #pieces: Buffer[] = []
  #sizeBytes = 0
  /** Filled bytes of the last piece, if this class allocated it. */
  #filledBytes = PIECE_BYTES

  constructor(parts: PiecesParts) {
    this.#parts = parts
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Adds bytes that are valid only during the call (as in `FeedTaker`) by copying them. */
  take(bytes: Buffer): Promise<void> | undefined {
    const room = this.#makeRoom(bytes.length)
    if (room !== undefined) return room.then(() => this.#copy(bytes))
    this.#copy(bytes)
    return undefined
  }

  #copy(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filledBytes === PIECE_BYTES) this.#begin(Buffer.allocUnsafeSlow(PIECE_BYTES), 0)
      const copiedBytes = bytes.copy(this.#pieces.at(-1) as Buffer, this.#filledBytes, at)
      at += copiedBytes
      this.#filledBytes += copiedBytes
    }
  }

  /**
   * Adds immutable bytes, without a copy if they fill their memory: a slice of a 4 MiB message must not keep the whole
   * message alive.
   */
  keep(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length < KEPT_BYTES || bytes.length !== bytes.buffer.byteLength) return this.take(bytes)
    const room = this.#makeRoom(bytes.length)
    if (room !== undefined) return room.then(() => this.#append(bytes))
    this.#append(bytes)
    return undefined
  }

  #append(bytes: Buffer): void {
    this.#end()
    this.#begin(bytes, PIECE_BYTES)
  }

  /** Ends the upload and returns its pieces. */
  end(): readonly Buffer[] {
    this.#end()
    return this.#pieces
  }

  /** Undefined when these bytes fit. Else resolves once idle uploads were discarded to make room, or rejects. */
  #makeRoom(bytes: number): Promise<void> | undefined {
    const { inFlight, fits } = this.#parts
    this.#sizeBytes += bytes
    return fits(this.#sizeBytes) ? inFlight.growTo(this.#sizeBytes) : Promise.reject(tooLargeToKeep(this.#sizeBytes))
  }

  #begin(piece: Buffer, filledBytes: number): void {
    this.#pieces.push(piece)
    this.#filledBytes = filledBytes
  }

  /** Frees the unused rest of the last piece. */
  #end(): void {
    if (this.#filledBytes === PIECE_BYTES) return
    this.#begin(copied((this.#pieces.pop() as Buffer).subarray(0, this.#filledBytes)), PIECE_BYTES)
  }

  /** The upload has succeeded or failed. */
  close(): void {
    this.#parts.inFlight.release()
  }
}

export const tooLargeToKeep = (sizeBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `a blob of ${sizeBytes} bytes or more exceeds max_bytes of this store`)

/** Not from Node's pool, where one small blob would keep the memory of its evicted neighbours alive. */
export const copied = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/** Reads the bytes from `offset` to `end`. The reader keeps the pieces alive after the store has dropped them. */
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
