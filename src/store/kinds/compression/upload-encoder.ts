import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'
import { BlobCheck } from '../../../stream/blob-check.js'
import { ByteQueue } from '../../../stream/byte-queue.js'
import { type DecompressContext, MAX_WINDOW_BYTES, type Step } from '../../../stream/compression/libzstd.js'
import { OUT_BYTES, TooMuchAnnounced } from '../../../stream/compression/zstd.js'
import { decompressors } from '../../../stream/compression/zstd-context.js'
import { type ContentFrame, MAX_FRAME_HEADER_BYTES, parseZstdFrame } from '../../../stream/compression/zstd-frame.js'
import { Loop, type LoopInput } from '../../../stream/loop.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import type { PendingCheck } from '../../../stream/verify.js'
import type { BlockFormat } from './blocks.js'
import { AT_ONCE_BYTES, MAX_PIECE_BYTES, UNDECODED_SLACK_BYTES } from './container.js'
import { RecordWriter } from './record-writer.js'

/** How much longer than their content frames may be and still be stored unchanged. */
const KEPT_SLACK_BYTES = 64 * 1024
/** Pieces of a frame are collected up to this size. */
const LEAST_PIECE_BYTES = 192 * 1024
const MOST_ADDED_BYTES = MAX_PIECE_BYTES - LEAST_PIECE_BYTES

export interface UploadEncoderOptions {
  readonly format: BlockFormat
  /** Longer frames are converted to blocks. */
  readonly maxFrameBytes: number
}

/**
 * Converts a zstd upload to the stored form. Everything is decoded, and compared with the digest if that is still
 * pending. Frames are stored unchanged where possible. A frame is compressed again if it is long, needs a large window,
 * or if such frames are larger than their content. Skippable frames are dropped.
 */
export class UploadEncoder extends Loop {
  constructor(digest: Digest, options: UploadEncoderOptions, check: PendingCheck | undefined) {
    super((input) => encode(input, new Frames(digest, options, announcedAtMost(check)), check))
  }
}

/** What the frames of a client may announce. What a backend sends is only compared. */
const announcedAtMost = (check: PendingCheck | undefined): number =>
  check?.fault === 'client' && check.checksSize !== false ? check.digest.sizeBytes : Number.POSITIVE_INFINITY

async function* encode(input: LoopInput, frames: Frames, pending: PendingCheck | undefined): AsyncGenerator<Buffer> {
  const decoding = new Decoding(frames, pending, Buffer.allocUnsafe(OUT_BYTES))
  try {
    yield* frames.begin()
    for (let isLast = false; !isLast; ) {
      const { value, done } = await input.next()
      isLast = done === true
      yield* decoding.take(value ?? NOTHING, isLast)
    }
    yield* decoding.end()
  } finally {
    decoding.close()
  }
}

/**
 * The same for a small upload that has all come. Undefined if it is large, or nothing bounds what it decodes to. Throws
 * INVALID_ARGUMENT.
 */
export const encodeAtOnce = (
  bytes: Buffer,
  digest: Digest,
  options: UploadEncoderOptions,
  check: PendingCheck | undefined,
): Buffer | undefined => {
  const isBounded = announcedAtMost(check) <= STAGE_BYTES
  if (!isBounded || bytes.length > AT_ONCE_BYTES) return undefined
  const frames = new Frames(digest, options, announcedAtMost(check))
  const decoding = new Decoding(frames, check, SCRATCH)
  try {
    return Buffer.concat([...frames.begin(), ...decoding.take(bytes, true), ...decoding.end()])
  } finally {
    decoding.close()
  }
}

/** For one upload at a time, which is encoded in one go. */
const SCRATCH = Buffer.allocUnsafeSlow(OUT_BYTES)

/** Decodes an upload, checks its content, and gives both to its frames. */
class Decoding {
  readonly #frames: Frames
  readonly #check: BlobCheck | undefined
  readonly #scratch: Buffer
  readonly #context = decompressors.take()
  #rest = NOTHING

  constructor(frames: Frames, pending: PendingCheck | undefined, scratch: Buffer) {
    this.#frames = frames
    this.#check = pending && new BlobCheck(pending.digest, pending)
    this.#scratch = scratch
  }

  *take(chunk: Buffer, isLast: boolean): Generator<Buffer> {
    const frames = this.#frames
    const least = isLast ? 1 : MAX_FRAME_HEADER_BYTES
    if (chunk.length > 0) this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let hasMore = true; hasMore && (frames.isInside || this.#rest.length >= least); ) {
      if (!frames.isInside) frames.open(this.#rest)
      const [left, producedBytes, consumedBytes] = step(this.#context, this.#scratch, this.#rest)
      const content = this.#scratch.subarray(0, producedBytes)
      fail(this.#check?.update(content))
      yield* frames.add(this.#rest.subarray(0, consumedBytes), content)
      this.#rest = this.#rest.subarray(consumedBytes)
      if (left === 0) yield* frames.close()
      // Decoding may produce no output for a long time, so yield regularly.
      yield NOTHING
      hasMore = this.#rest.length > 0 || producedBytes === this.#scratch.length
    }
  }

  *end(): Generator<Buffer> {
    if (this.#frames.isInside) throw invalid('they end inside a frame')
    fail(this.#check?.end())
    yield* this.#frames.end()
  }

  close(): void {
    decompressors.give(this.#context, this.#frames.decodedBytes)
  }
}

const step = (context: DecompressContext, out: Buffer, bytes: Buffer): Step => {
  try {
    return context.decompressStream(out, bytes)
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

const fail = (error: StatusError | undefined): void => {
  if (error !== undefined) throw error
}

/** Handles the frames of one upload. Each step returns the bytes to write next. */
class Frames {
  readonly #digest: Digest
  readonly #options: UploadEncoderOptions
  readonly #maxBytes: number
  readonly #records: RecordWriter
  /** Pieces of the current frame, to be stored unchanged. */
  #kept: Buffer[] = []
  #unwrittenBytes = 0
  /** Decoded bytes for the next block. */
  readonly #waiting = new ByteQueue()
  #treatment: 'kept' | 'remade' | 'dropped' | undefined
  #isRemaking = false
  #decodedBytes = 0
  #keptBytes = 0

  constructor(digest: Digest, options: UploadEncoderOptions, maxBytes: number) {
    this.#digest = digest
    this.#options = options
    this.#maxBytes = maxBytes
    this.#records = new RecordWriter(options.format.header)
  }

  get isInside(): boolean {
    return this.#treatment !== undefined
  }

  get decodedBytes(): number {
    return this.#decodedBytes
  }

  begin(): readonly Buffer[] {
    return this.#records.begin()
  }

  /** Starts a frame. Once a frame was converted, later ones are too, because alternating would create small blocks. */
  open(header: Buffer): void {
    const frame = parseZstdFrame(header)
    if (frame?.kind === 'skippable') {
      this.#treatment = 'dropped'
      return
    }
    const contentBytes = this.#decodedBytes + (frame?.contentBytes ?? 0)
    if (contentBytes > this.#maxBytes) throw new TooMuchAnnounced(contentBytes, this.#maxBytes)
    this.#isRemaking ||= frame === undefined || !this.#isWorthKeeping(frame)
    this.#treatment = this.#isRemaking ? 'remade' : 'kept'
    if (!this.#isRemaking) this.#records.mark(this.#decodedBytes)
  }

  /** Adds bytes of the frame and their decoded content. The content buffer is overwritten by the next step. */
  *add(encoded: Buffer, content: Buffer): Generator<Buffer> {
    this.#decodedBytes += content.length
    if (this.#treatment === 'remade') {
      this.#waiting.add(Buffer.from(content))
      const { blockBytes } = this.#options.format.header
      while (this.#waiting.sizeBytes >= blockBytes) yield* this.#block(blockBytes)
    } else if (this.#treatment === 'kept') {
      this.#keptBytes += encoded.length
      if (this.#keptBytes > 2 * this.#decodedBytes + UNDECODED_SLACK_BYTES) {
        throw invalid(`${this.#keptBytes} bytes decode to no more than ${this.#decodedBytes}`)
      }
      for (let at = 0; at < encoded.length; at += MOST_ADDED_BYTES) {
        this.#kept.push(encoded.subarray(at, at + MOST_ADDED_BYTES))
        this.#unwrittenBytes += Math.min(MOST_ADDED_BYTES, encoded.length - at)
        if (this.#unwrittenBytes >= LEAST_PIECE_BYTES) yield* this.#piece()
      }
    }
  }

  /** Ends the frame. */
  close(): readonly Buffer[] {
    this.#treatment = undefined
    return this.#unwrittenBytes > 0 ? this.#piece() : []
  }

  /** Ends the blob. */
  *end(): Generator<Buffer> {
    if (this.#waiting.sizeBytes > 0) yield* this.#block(this.#waiting.sizeBytes)
    yield* this.#records.end(this.#decodedBytes)
  }

  #isWorthKeeping(frame: ContentFrame): boolean {
    const isSmall = (frame.contentBytes ?? this.#digest.sizeBytes) <= this.#options.maxFrameBytes
    const isLean = this.#keptBytes <= this.#decodedBytes + KEPT_SLACK_BYTES
    return isSmall && isLean && frame.windowBytes <= MAX_WINDOW_BYTES
  }

  #piece(): readonly Buffer[] {
    const piece = this.#records.record('raw', ...this.#kept)
    this.#kept = []
    this.#unwrittenBytes = 0
    return piece
  }

  #block(sizeBytes: number): readonly Buffer[] {
    const position = this.#decodedBytes - this.#waiting.sizeBytes
    const { kind, parts } = this.#options.format.compress(this.#waiting.take(sizeBytes))
    return this.#records.markedRecord(position, kind, ...parts)
  }
}

const NOTHING: Buffer = Buffer.alloc(0)

const invalid = (reason: string, cause?: unknown): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the bytes sent are not valid zstd: ${reason}`, { cause })
