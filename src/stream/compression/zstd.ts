import { StatusError } from '../../base/status-error.js'
import { Loop, type LoopInput } from '../loop.js'
import { compressBound, EndDirective, type Step } from './libzstd.js'
import { compressorsAt, decompressors } from './zstd-context.js'

// Level 1 compresses a binary at 314 MB/s to 34 %, level 3 at 208 MB/s to 29 %: a cache in the same building wants the first.
const LEVEL = 1
export const OUT_BYTES = 128 * 1024
// What is left of an output buffer is used on, unless it is so small that calls would outnumber the bytes.
const LEAST_OUT_BYTES = 16 * 1024

const compressors = compressorsAt(LEVEL)

/** Bytes in, one zstd frame out. The frame tells the size of its content where `sizeBytes` is given. */
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
 * Any number of zstd frames in, of any level, with or without content size, skippable ones among them; their content
 * out. It makes no more than its reader takes: a few KiB that stand for gigabytes cost no memory, so that Verify behind
 * it is all the bound there need be.
 */
export class ZstdDecompress extends Loop {
  constructor() {
    super(decompress)
  }
}

async function* decompress(input: LoopInput): AsyncGenerator<Buffer> {
  const frames = new ZstdDecoder(invalidZstd)
  try {
    for await (const chunk of input) yield* frames.decode(chunk)
    if (frames.isInside) throw invalidZstd('they end inside a frame')
  } finally {
    frames.close()
  }
}

/** Decodes frames that come in chunks, cut anywhere. */
export class ZstdDecoder {
  readonly #context = decompressors.take()
  readonly #fault: (reason: string, cause: unknown) => StatusError
  readonly #scratch: Buffer | undefined
  #out: Buffer
  #isInside = false
  #producedBytes = 0

  /** `fault` makes the error of frames that are none. Every piece lies in `scratch`, where there is one, and is written over by the next. */
  constructor(fault: (reason: string, cause: unknown) => StatusError, scratch?: Buffer) {
    this.#fault = fault
    this.#scratch = scratch
    this.#out = scratch ?? Buffer.allocUnsafe(OUT_BYTES)
  }

  /** Whether a frame has begun that is not whole. */
  get isInside(): boolean {
    return this.#isInside
  }

  /** Made piece by piece, as they are asked for. */
  *decode(bytes: Buffer): Generator<Buffer> {
    for (let rest = bytes; ; ) {
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

  #step(bytes: Buffer): Step {
    try {
      return this.#context.decompressStream(this.#out, bytes)
    } catch (cause) {
      throw this.#fault(cause instanceof Error ? cause.message : String(cause), cause)
    }
  }
}

const NOTHING: Buffer = Buffer.alloc(0)

/** One frame, for bytes at hand. */
export const zstdCompress = (bytes: Uint8Array, contexts = compressors): Buffer => {
  const context = contexts.take()
  const out = Buffer.allocUnsafe(compressBound(bytes.length))
  const sizeBytes = context.compress(out, bytes)
  contexts.give(context)
  return out.subarray(0, sizeBytes)
}

/** Any number of frames at hand, whose content is `sizeBytes` long. Undefined when it is not, or they are not valid. */
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

/** What of an output buffer is left to fill, or a new one. */
const remainder = (out: Buffer, produced: number): Buffer =>
  out.length - produced < LEAST_OUT_BYTES ? Buffer.allocUnsafe(OUT_BYTES) : out.subarray(produced)

export const invalidZstd = (reason: string, cause?: unknown): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the bytes sent are not valid zstd: ${reason}`, { cause })
