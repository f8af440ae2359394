import { ConnectionError, DEFAULT_FRAME_BYTES, Flag, FrameType, HEAD_BYTES, PREFACE } from './frame.js'

/**
 * Receives frames. The bytes are in the chunk that was read or in a reused buffer, so a receiver that keeps them must
 * copy them.
 */
export interface FrameSink {
  /** A whole frame other than DATA, including padding and priority fields. */
  frame(type: number, flags: number, streamId: number, payload: Buffer): void
  /** The start of a DATA frame. `lengthBytes` is its share of flow control, including padding. */
  dataBegins(streamId: number, lengthBytes: number): void
  /** Bytes of the DATA frame, as they arrive. */
  data(bytes: Buffer): void
  /** The end of the DATA frame. */
  dataEnds(isEndOfStream: boolean): void
}

const NOTHING = Buffer.alloc(0)

/**
 * Splits chunks into frames; a chunk may end anywhere (RFC 9113, 3.4 and 4). Bytes of DATA are passed on in place. Any
 * other frame is kept until it is complete. Throws a ConnectionError for invalid frames.
 */
export class FrameReader {
  readonly #sink: FrameSink
  /** The incomplete preface, frame header or payload. */
  readonly #held = Buffer.allocUnsafeSlow(HEAD_BYTES + DEFAULT_FRAME_BYTES)
  #heldBytes = 0
  #prefaceBytes = 0
  /** Of the present DATA frame: the remaining bytes of data and of padding. */
  #isInData = false
  #dataBytes = 0
  #paddingBytes = 0
  #dataFlags = 0

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Whether no frame is incomplete. */
  get isAtBoundary(): boolean {
    return this.#heldBytes === 0 && !this.#isInData && this.hasPreface
  }

  get hasPreface(): boolean {
    return this.#prefaceBytes === PREFACE.length
  }

  read(chunk: Buffer): void {
    let at = this.hasPreface ? 0 : this.#preface(chunk)
    while (at < chunk.length) at = this.#isInData ? this.#data(chunk, at) : this.#frame(chunk, at)
  }

  #preface(chunk: Buffer): number {
    const length = Math.min(PREFACE.length - this.#prefaceBytes, chunk.length)
    if (PREFACE.compare(chunk, 0, length, this.#prefaceBytes, this.#prefaceBytes + length) !== 0) {
      throw new ConnectionError('PROTOCOL_ERROR', 'the connection does not begin with the preface of HTTP/2')
    }
    this.#prefaceBytes += length
    return length
  }

  /** Reads the frame that starts at `at`, or the available part of it. Returns where the next one begins. */
  #frame(chunk: Buffer, at: number): number {
    if (this.#heldBytes > 0) return this.#rest(chunk, at)
    const left = chunk.length - at
    if (left < HEAD_BYTES) return this.#hold(chunk, at, left)
    const length = frameLength(chunk, at)
    if (chunk[at + 3] === FrameType.DATA) return this.#beginData(chunk, at, length, left)
    if (left < HEAD_BYTES + length) return this.#hold(chunk, at, left)
    this.#whole(chunk, at, length)
    return at + HEAD_BYTES + length
  }

  /** Completes the held bytes with the beginning of the next chunk. */
  #rest(chunk: Buffer, at: number): number {
    let next = this.#fill(chunk, at, HEAD_BYTES)
    if (this.#heldBytes < HEAD_BYTES) return next
    const held = this.#held
    const length = frameLength(held, 0)
    if (held[3] === FrameType.DATA) {
      const padded = ((held[4] as number) & Flag.PADDED) !== 0 && length > 0 ? 1 : 0
      next = this.#fill(chunk, next, HEAD_BYTES + padded)
      if (this.#heldBytes < HEAD_BYTES + padded) return next
      this.#heldBytes = 0
      this.#beginData(held, 0, length, HEAD_BYTES + padded)
      return next
    }
    next = this.#fill(chunk, next, HEAD_BYTES + length)
    if (this.#heldBytes < HEAD_BYTES + length) return next
    this.#heldBytes = 0
    this.#whole(held, 0, length)
    return next
  }

  #hold(chunk: Buffer, at: number, length: number): number {
    chunk.copy(this.#held, 0, at, at + length)
    this.#heldBytes = length
    return at + length
  }

  /** Copies until `toBytes` are held. Returns where the rest of the chunk begins. */
  #fill(chunk: Buffer, at: number, toBytes: number): number {
    if (this.#heldBytes >= toBytes) return at
    const copied = chunk.copy(this.#held, this.#heldBytes, at, at + toBytes - this.#heldBytes)
    this.#heldBytes += copied
    return at + copied
  }

  #whole(bytes: Buffer, at: number, length: number): void {
    const payload = length === 0 ? NOTHING : bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    this.#sink.frame(bytes[at + 3] as number, bytes[at + 4] as number, streamIdAt(bytes, at), payload)
  }

  /** Begins a DATA frame whose header is at `at`. Holds it back until the length of its padding is available. */
  #beginData(bytes: Buffer, at: number, length: number, left: number): number {
    const flags = bytes[at + 4] as number
    const streamId = streamIdAt(bytes, at)
    let next = at + HEAD_BYTES
    let padding = 0
    if ((flags & Flag.PADDED) !== 0) {
      if (length === 0) throw new ConnectionError('FRAME_SIZE_ERROR', 'a padded DATA frame has no length of padding')
      if (left < HEAD_BYTES + 1) return this.#hold(bytes, at, left)
      padding = bytes[next] as number
      next += 1
      if (padding >= length) throw new ConnectionError('PROTOCOL_ERROR', 'a DATA frame has more padding than payload')
    }
    this.#isInData = true
    this.#dataFlags = flags
    this.#paddingBytes = padding
    this.#dataBytes = length - padding - (next - at - HEAD_BYTES)
    this.#sink.dataBegins(streamId, length)
    if (this.#dataBytes === 0 && padding === 0) this.#endData()
    return next
  }

  #data(chunk: Buffer, at: number): number {
    const data = Math.min(this.#dataBytes, chunk.length - at)
    if (data > 0) {
      this.#dataBytes -= data
      this.#sink.data(data === chunk.length ? chunk : chunk.subarray(at, at + data))
    }
    const padding = Math.min(this.#paddingBytes, chunk.length - at - data)
    this.#paddingBytes -= padding
    if (this.#dataBytes === 0 && this.#paddingBytes === 0) this.#endData()
    return at + data + padding
  }

  #endData(): void {
    this.#isInData = false
    this.#sink.dataEnds((this.#dataFlags & Flag.END_STREAM) !== 0)
  }
}

const frameLength = (bytes: Buffer, at: number): number => {
  const length = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)
  if (length <= DEFAULT_FRAME_BYTES) return length
  throw new ConnectionError('FRAME_SIZE_ERROR', `a frame has ${length} bytes, expected at most ${DEFAULT_FRAME_BYTES}`)
}

const streamIdAt = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at + 5) & 0x7fffffff
