import { StatusError } from '../../base/status-error.js'
import { Loop, type LoopInput } from '../loop.js'
import { STAGE_BYTES } from '../path.js'
import { compressBound, EndDirective, type Step } from './libzstd.js'
import { compressorsAt, decompressors } from './zstd-context.js'
import { beginsZstdFrame, parseZstdFrame } from './zstd-frame.js'

// Measured on a binary: level 1 is 314 MB/s to 34 %, level 3 is 208 MB/s to 29 %. Level 1 suits a cache in
// the local network.
const LEVEL = 1
export const OUT_BYTES = 128 * 1024
// The rest of an output buffer is reused, unless it is so small that calls would cost more than the copied
// bytes.
const LEAST_OUT_BYTES = 16 * 1024

const compressors = compressorsAt(LEVEL)
const NOTHING: Buffer = Buffer.alloc(0)

/** Encodes bytes into one zstd frame. With `sizeBytes` the frame states the size of its content. */
export class ZstdCompress extends Loop {
  constructor(sizeBytes?: number) {
    super((input) => compress(input, sizeBytes))
  }
}

async function* compress(input: LoopInput, sizeBytes: number | undefined): AsyncGenerator<Buffer> {
  const context = compressors.take()
  let out: Buffer = Buffer.allocUnsafe(OUT_BYTES)
  try {
    if (sizeBytes !== undefined) context.pledge(sizeBytes)
    for (let isLast = false; !isLast; ) {
      const { value = NOTHING, done } = await input.next()
      isLast = done === true
      const directive = isLast ? EndDirective.end : EndDirective.continue
      for (let rest = value, left = 1; rest.length > 0 || (isLast && left > 0); ) {
        const [stillLeft, producedBytes, consumedBytes] = context.compressStream(out, rest, directive)
        left = stillLeft
        rest = rest.subarray(consumedBytes)
        if (producedBytes === 0) continue
        yield out.subarray(0, producedBytes)
        out = remainder(out, producedBytes)
      }
    }
  } finally {
    compressors.give(context)
  }
}

/**
 * Decodes any number of zstd frames of any level, with or without content size, skippable ones included.
 * Produces only what its reader consumes: a few KiB that decode to gigabytes cost no memory. So a Verify
 * stage behind it is a sufficient bound.
 */
export class ZstdDecompress extends Loop {
  constructor(maxBytes?: number) {
    super((input) => decompress(input, maxBytes))
  }
}

async function* decompress(input: LoopInput, maxBytes: number | undefined): AsyncGenerator<Buffer> {
  const frames = new ZstdDecoder(invalidZstd, { maxBytes })
  try {
    for await (const chunk of input) yield* frames.decode(chunk)
    if (frames.isInside) throw invalidZstd('they end inside a frame')
  } finally {
    frames.close()
  }
}

interface DecoderOptions {
  /** Each piece lies in this buffer, and the next piece overwrites it. */
  readonly scratch?: Buffer
  /** Of the content of all frames, if known: a frame whose header announces more is refused before it is decoded. */
  readonly maxBytes?: number | undefined
}

/** Decodes frames that arrive in arbitrary chunks. */
export class ZstdDecoder {
  readonly #context = decompressors.take()
  readonly #fault: (reason: string, cause: unknown) => StatusError
  readonly #scratch: Buffer | undefined
  readonly #maxBytes: number | undefined
  #out: Buffer
  /** The beginning of a header that has not all come. */
  #head = NOTHING
  #isInside = false
  #producedBytes = 0

  /** `fault` creates the error for invalid frames. */
  constructor(fault: (reason: string, cause: unknown) => StatusError, { scratch, maxBytes }: DecoderOptions = {}) {
    this.#fault = fault
    this.#scratch = scratch
    this.#maxBytes = maxBytes
    this.#out = scratch ?? Buffer.allocUnsafe(OUT_BYTES)
  }

  /** Whether a frame is incomplete. */
  get isInside(): boolean {
    return this.#isInside || this.#head.length > 0
  }

  /** Decodes lazily: each piece is produced when it is requested. */
  *decode(bytes: Buffer): Generator<Buffer> {
    for (let rest = bytes; ; ) {
      const opened = this.#isInside ? rest : this.#open(rest)
      if (opened === undefined) return
      rest = opened
      const roomBytes = this.#out.length
      const [left, producedBytes, consumedBytes] = this.#step(rest)
      rest = rest.subarray(consumedBytes)
      this.#isInside = left !== 0
      if (producedBytes > 0) {
        const piece = this.#out.subarray(0, producedBytes)
        this.#out = this.#scratch ?? remainder(this.#out, producedBytes)
        this.#producedBytes += producedBytes
        yield piece
      }
      if (rest.length === 0 && (left === 0 || producedBytes < roomBytes)) return
    }
  }

  close(): void {
    decompressors.give(this.#context, this.#producedBytes)
  }

  /** Bytes from the beginning of a frame; undefined until its header has come. Throws if it announces too much. */
  #open(bytes: Buffer): Buffer | undefined {
    const maxBytes = this.#maxBytes
    if (maxBytes === undefined) return bytes
    const frames = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    const frame = parseZstdFrame(frames)
    if (frame === undefined && beginsZstdFrame(frames)) {
      this.#head = Buffer.from(frames)
      return undefined
    }
    this.#head = NOTHING
    const { contentBytes = 0 } = frame?.kind === 'content' ? frame : {}
    if (this.#producedBytes + contentBytes > maxBytes) throw new TooMuchAnnounced(contentBytes, maxBytes)
    return frames
  }

  #step(bytes: Buffer): Step {
    try {
      return this.#context.decompressStream(this.#out, bytes)
    } catch (cause) {
      throw this.#fault(cause instanceof Error ? cause.message : String(cause), cause)
    }
  }
}

/** Room for the frame of a stage's worth of bytes. A new buffer of that length for each blob would keep the collector busy. */
let scratch: Buffer | undefined

/** Encodes bytes in memory into one frame. */
export const zstdCompress = (bytes: Uint8Array, contexts = compressors): Buffer => {
  const context = contexts.take()
  const isLarge = bytes.length > STAGE_BYTES
  scratch ??= Buffer.allocUnsafeSlow(compressBound(STAGE_BYTES))
  const out = isLarge ? Buffer.allocUnsafe(compressBound(bytes.length)) : scratch
  const sizeBytes = context.compress(out, bytes)
  contexts.give(context)
  const frame = out.subarray(0, sizeBytes)
  return isLarge ? frame : Buffer.from(frame)
}

/** Decodes frames in memory. Undefined if they are invalid or their content is not `sizeBytes` long. */
export const zstdDecompress = (bytes: Uint8Array, sizeBytes: number): Buffer | undefined => {
  const context = decompressors.take()
  const out = Buffer.allocUnsafe(sizeBytes)
  try {
    return context.decompress(out, bytes) === sizeBytes ? out : undefined
  } catch {
    return undefined
  } finally {
    decompressors.give(context)
  }
}

/** The unused rest of an output buffer, or a new buffer. */
const remainder = (out: Buffer, produced: number): Buffer =>
  out.length - produced < LEAST_OUT_BYTES ? Buffer.allocUnsafe(OUT_BYTES) : out.subarray(produced)

/** The header of a frame announces more content than the blob has. */
export class TooMuchAnnounced extends StatusError {
  constructor(contentBytes: number, maxBytes: number) {
    const found = `a zstd frame announces ${contentBytes} bytes of content`
    super('INVALID_ARGUMENT', `${found}, expected at most ${maxBytes} in all frames`)
  }
}

export const invalidZstd = (reason: string, cause?: unknown): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the bytes sent are not valid zstd: ${reason}`, { cause })
