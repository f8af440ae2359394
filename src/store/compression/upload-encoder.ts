import { Transform, type TransformCallback } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { BlobCheck } from '../../stream/blob-check.js'
import { ByteQueue } from '../../stream/byte-queue.js'
import type { DecompressContext, Step } from '../../stream/compression/libzstd.js'
import { OUT_BYTES } from '../../stream/compression/zstd.js'
import { decompressors } from '../../stream/compression/zstd-context.js'
import { type ContentFrame, MAX_FRAME_HEADER_BYTES, parseZstdFrame } from '../../stream/compression/zstd-frame.js'
import { STAGE_BYTES } from '../../stream/path.js'
import type { PendingCheck } from '../../stream/verify.js'
import type { BlockFormat } from './blocks.js'
import { BURST_BYTES, MAX_PIECE_BYTES, UNDECODED_SLACK_BYTES } from './container.js'
import { RecordWriter } from './record-writer.js'

/** Every decoder of zstd has to be able to do with such a window (RFC 8878, 3.1.1.1.2). */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024
/** How much longer than their content frames may be before they are not worth keeping. */
const KEPT_SLACK_BYTES = 64 * 1024
/** Pieces of a frame are gathered up to here. */
const LEAST_PIECE_BYTES = 192 * 1024
const MOST_ADDED_BYTES = MAX_PIECE_BYTES - LEAST_PIECE_BYTES

export interface UploadEncoderOptions {
  readonly format: BlockFormat
  /** Longer frames are made into blocks. */
  readonly maxFrameBytes: number
}

/**
 * Turns a blob that comes as zstd into the stored form. Everything is decoded, and compared with the digest where that is
 * still to be done; nothing decoded is kept unless a frame has to be made anew: because it is long, needs a large window,
 * or its like are more than their content. Skippable frames are left out.
 */
export class UploadEncoder extends Transform {
  readonly #options: UploadEncoderOptions
  readonly #digest: Digest
  readonly #check: BlobCheck | undefined
  readonly #records: RecordWriter
  readonly #context: DecompressContext = decompressors.take()
  readonly #scratch = Buffer.allocUnsafe(OUT_BYTES)
  #input: Buffer = Buffer.alloc(0)
  #isLast = false
  #isRemaking = false
  #callback: TransformCallback | undefined
  #frame: 'kept' | 'remade' | 'dropped' | undefined
  #pieces: Buffer[] = []
  #piecesBytes = 0
  readonly #block = new ByteQueue()
  #decodedBytes = 0
  #keptBytes = 0
  #burstBytes = 0
  #isResting = false
  #isWorking = false
  #hasRoom = true

  constructor(digest: Digest, options: UploadEncoderOptions, check: PendingCheck | undefined) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
    this.#digest = digest
    this.#check = check && new BlobCheck(check.digest, check)
    this.#records = new RecordWriter(options.format.header, (bytes) => {
      if (!this.push(bytes)) this.#hasRoom = false
    })
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk])
    this.#callback = callback
    this.#work()
  }

  override _flush(callback: TransformCallback): void {
    this.#isLast = true
    this.#callback = callback
    this.#work()
  }

  override _read(sizeBytes: number): void {
    this.#hasRoom = true
    this.#work()
    if (this.#callback === undefined) super._read(sizeBytes)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#callback = undefined
    decompressors.give(this.#context, this.#decodedBytes)
    callback(error)
  }

  #work(): void {
    // A push may ask for more at once, from inside a step.
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      while (this.#callback !== undefined && !this.#isResting && this.#hasRoom) {
        if (this.#burstBytes >= BURST_BYTES) this.#rest()
        else if (!this.#step()) this.#finish()
      }
    } catch (error) {
      this.#answer(StatusError.from(error))
    } finally {
      this.#isWorking = false
    }
  }

  #rest(): void {
    this.#isResting = true
    setImmediate(() => {
      this.#isResting = false
      this.#burstBytes = 0
      this.#work()
    })
  }

  /** Decodes some of the input; false when it is used up or too little to begin a frame with. */
  #step(): boolean {
    if (this.#frame === undefined) {
      const least = this.#isLast ? 1 : MAX_FRAME_HEADER_BYTES
      if (this.#input.length < least) return false
      this.#frame = this.#treatmentOf(this.#input)
      if (this.#frame === 'kept') this.#records.mark(this.#decodedBytes)
    }
    const [left, producedBytes, consumedBytes] = this.#decompress()
    const content = this.#scratch.subarray(0, producedBytes)
    const consumed = this.#input.subarray(0, consumedBytes)
    this.#input = this.#input.subarray(consumedBytes)
    this.#decodedBytes += producedBytes
    this.#burstBytes += producedBytes
    const error = this.#check?.update(content)
    if (error !== undefined) throw error
    if (this.#frame === 'kept') this.#keep(consumed)
    else if (this.#frame === 'remade') this.#remake(content)
    if (left === 0) this.#endFrame()
    return left === 0 || this.#input.length > 0 || producedBytes === this.#scratch.length
  }

  /** Frames behind one that was made anew are too: taking turns, small ones would leave blocks of their size. */
  #treatmentOf(header: Buffer): 'kept' | 'remade' | 'dropped' {
    const frame = parseZstdFrame(header)
    if (frame?.kind === 'skippable') return 'dropped'
    this.#isRemaking ||= frame === undefined || !this.#isWorthKeeping(frame)
    return this.#isRemaking ? 'remade' : 'kept'
  }

  #isWorthKeeping(frame: ContentFrame): boolean {
    const isSmall = (frame.contentBytes ?? this.#digest.sizeBytes) <= this.#options.maxFrameBytes
    const isLean = this.#keptBytes <= this.#decodedBytes + KEPT_SLACK_BYTES
    return isSmall && isLean && frame.windowBytes <= MAX_WINDOW_BYTES
  }

  #decompress(): Step {
    try {
      return this.#context.decompressStream(this.#scratch, this.#input)
    } catch (cause) {
      throw invalid(cause instanceof Error ? cause.message : String(cause), cause)
    }
  }

  #keep(bytes: Buffer): void {
    this.#keptBytes += bytes.length
    if (this.#keptBytes > 2 * this.#decodedBytes + UNDECODED_SLACK_BYTES) {
      throw invalid(`${this.#keptBytes} bytes decode to no more than ${this.#decodedBytes}`)
    }
    for (let at = 0; at < bytes.length; at += MOST_ADDED_BYTES) {
      const piece = bytes.subarray(at, at + MOST_ADDED_BYTES)
      this.#pieces.push(piece)
      this.#piecesBytes += piece.length
      if (this.#piecesBytes >= LEAST_PIECE_BYTES) this.#writePieces()
    }
  }

  #writePieces(): void {
    this.#records.record('raw', ...this.#pieces)
    this.#pieces = []
    this.#piecesBytes = 0
  }

  #endFrame(): void {
    if (this.#piecesBytes > 0) this.#writePieces()
    this.#frame = undefined
  }

  #remake(content: Buffer): void {
    const { blockBytes } = this.#options.format.header
    // The scratch buffer is written over by the next step.
    this.#block.add(Buffer.from(content))
    while (this.#block.sizeBytes >= blockBytes) this.#writeBlock(blockBytes)
  }

  #writeBlock(sizeBytes: number): void {
    const { kind, parts } = this.#options.format.compress(this.#block.take(sizeBytes))
    this.#records.mark(this.#decodedBytes - this.#block.sizeBytes - sizeBytes)
    this.#records.record(kind, ...parts)
  }

  #endBlock(): void {
    if (this.#block.sizeBytes > 0) this.#writeBlock(this.#block.sizeBytes)
  }

  #finish(): void {
    if (!this.#isLast) {
      this.#answer(null)
      return
    }
    if (this.#frame !== undefined) throw invalid('they end inside a frame')
    const error = this.#check?.end()
    if (error !== undefined) throw error
    this.#endBlock()
    this.#records.end(this.#decodedBytes)
    this.#answer(null)
  }

  #answer(error: StatusError | null): void {
    const callback = this.#callback
    this.#callback = undefined
    callback?.(error)
  }
}

const invalid = (reason: string, cause?: unknown): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the bytes sent are not valid zstd: ${reason}`, { cause })
