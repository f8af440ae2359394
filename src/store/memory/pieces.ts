import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../../stream/path.js'

/** Blobs that come as streams are kept in pieces of this length, so that a large one is neither one allocation nor ever moved. */
const PIECE_BYTES = 256 * 1024

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

/** Copies each byte, into buffers of its own: a slice of a 4 MiB message must not keep the whole message alive. */
export class Pieces {
  readonly #parts: PiecesParts
  readonly #pieces: Buffer[] = []
  #sizeBytes = 0
  #takenBytes = 0

  constructor(parts: PiecesParts) {
    this.#parts = parts
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** As a `FeedTaker`. */
  take(bytes: Buffer): Promise<void> | undefined {
    const { room, fits } = this.#parts
    if (!fits(this.#sizeBytes + bytes.length)) return Promise.reject(tooLargeToKeep(this.#sizeBytes + bytes.length))
    if (!room.take(bytes.length)) {
      const text = 'uploads under way hold all the memory that max_bytes lets them have'
      return Promise.reject(new StatusError('RESOURCE_EXHAUSTED', text))
    }
    this.#takenBytes += bytes.length
    for (let at = 0; at < bytes.length; ) {
      const filledBytes = this.#sizeBytes % PIECE_BYTES
      if (filledBytes === 0) this.#pieces.push(Buffer.allocUnsafeSlow(PIECE_BYTES))
      const copiedBytes = bytes.copy(this.#pieces.at(-1) as Buffer, filledBytes, at)
      at += copiedBytes
      this.#sizeBytes += copiedBytes
    }
    return undefined
  }

  /** No more comes: what there is, each piece but the last of the same length. */
  end(): readonly Buffer[] {
    const lastBytes = this.#sizeBytes % PIECE_BYTES
    if (lastBytes > 0) this.#pieces.push(own((this.#pieces.pop() as Buffer).subarray(0, lastBytes)))
    return this.#pieces
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
  for (let at = offset; at < end; ) {
    const from = at % PIECE_BYTES
    const part = pieces[Math.floor(at / PIECE_BYTES)]?.subarray(from, from + end - at)
    if (part === undefined) return
    at += part.length
    yield part
  }
}
