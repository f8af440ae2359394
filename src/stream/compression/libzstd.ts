import { createRequire } from 'node:module'
import { StatusError } from '../../base/status-error.js'

// zstd's C interface, called through koffi. koffi's npm packages contain its binaries, so an install compiles
// and downloads nothing else. Node exports the zstd functions from 22.15 on; older versions use the system's
// libzstd. Node's own zstd streams do not fit: they work in the thread pool, end with the first frame, and do
// not report how much they consumed. The store needs that count to cut frames into records. Its functions for
// whole buffers make a context for each call and cost more: docs/performance.md, "zstd". A call through koffi
// costs as much as one through a native package. Measured on a binary in chunks of 64 KiB: 90 ms to
// compress 32 MiB, 32 ms to decompress; 16 microseconds for 2 KiB both ways.

/** The used values of `ZSTD_cParameter` in zstd.h. */
export const CompressParameter = {
  compressionLevel: 100,
  windowLog: 101,
  contentSizeFlag: 200,
  checksumFlag: 201,
} as const

/** The used values of `ZSTD_dParameter` in zstd.h. */
const DecompressParameter = { windowLogMax: 100 } as const

/**
 * RFC 8878, 3.1.1.1.2, recommends that decoders support windows of 8 MiB. By default libzstd allocates up to
 * 128 MiB for a stream.
 */
const WINDOW_LOG_MAX = 23
export const MAX_WINDOW_BYTES = 2 ** WINDOW_LOG_MAX

/** `ZSTD_EndDirective` of zstd.h. */
export const EndDirective = { continue: 0, end: 2 } as const

const RESET_SESSION = 1

/** Work left (0: the frame is complete), bytes produced, bytes consumed. */
export type Step = readonly [left: number, produced: number, consumed: number]

/** Native memory. `close` or garbage collection frees it; after `close` every other method throws. */
abstract class Context {
  #pointer: Pointer | undefined
  readonly #free: () => void

  constructor(pointer: Pointer, free: (pointer: Pointer) => Size) {
    this.#pointer = pointer
    this.#free = () => free(pointer)
    abandoned.register(this, this.#free, this)
  }

  protected get pointer(): Pointer {
    if (this.#pointer === undefined) throw new Error('a zstd context was used after its close')
    return this.#pointer
  }

  close(): void {
    if (this.#pointer === undefined) return
    this.#pointer = undefined
    abandoned.unregister(this)
    this.#free()
  }
}

const abandoned = new FinalizationRegistry<() => void>((free) => free())

/** A `ZSTD_CCtx`. Methods throw the errors of libzstd. */
export class CompressContext extends Context {
  constructor() {
    super(allocated(zstd().createCCtx()), zstd().freeCCtx)
  }

  setParameter(parameter: number, value: number): void {
    checked(zstd().setCParameter(this.pointer, parameter, value))
  }

  /** Announces the length of the next stream, which is written into its frame. */
  pledge(sizeBytes: number): void {
    checked(zstd().setPledgedSize(this.pointer, sizeBytes))
  }

  /** Drops the current stream and keeps the parameters. */
  reset(): void {
    checked(zstd().resetCCtx(this.pointer, RESET_SESSION))
  }

  /** Writes one frame into `out` and returns its length. `out` must have room for all of it. */
  compress(out: Buffer, bytes: Uint8Array): number {
    return checked(zstd().compress2(this.pointer, out, out.length, bytes, bytes.length))
  }

  compressStream(out: Buffer, bytes: Buffer, directive: number): Step {
    const { outBuffer, inBuffer } = aim(out, bytes)
    return moved(zstd().compressStream2(this.pointer, outBuffer, inBuffer, directive))
  }
}

/** A `ZSTD_DCtx`. Decodes streams with windows of at most MAX_WINDOW_BYTES. Methods throw the errors of libzstd. */
export class DecompressContext extends Context {
  constructor() {
    super(allocated(zstd().createDCtx()), zstd().freeDCtx)
    checked(zstd().setDParameter(this.pointer, DecompressParameter.windowLogMax, WINDOW_LOG_MAX))
  }

  /** Drops the current stream. */
  reset(): void {
    checked(zstd().resetDCtx(this.pointer, RESET_SESSION))
  }

  /** Decodes whole frames into `out` and returns the length. `out` must have room for all the content. */
  decompress(out: Buffer, bytes: Uint8Array): number {
    return checked(zstd().decompressDCtx(this.pointer, out, out.length, bytes, bytes.length))
  }

  decompressStream(out: Buffer, bytes: Buffer): Step {
    const { outBuffer, inBuffer } = aim(out, bytes)
    return moved(zstd().decompressStream(this.pointer, outBuffer, inBuffer))
  }
}

/** Maximum length of a frame with `sizeBytes` of content. */
export const compressBound = (sizeBytes: number): number => checked(zstd().compressBound(sizeBytes))

/** Why zstd is unavailable on this machine; undefined if it is available. */
export const zstdFailure = (): string | undefined => {
  const attempt = loaded()
  return 'failure' in attempt ? attempt.failure : undefined
}

type Pointer = bigint
/** A `size_t`: koffi returns a bigint above the safe integers, where the error codes are. */
type Size = number | bigint

interface Library {
  readonly addressOf: (buffer: ArrayBufferView) => Pointer
  readonly createCCtx: () => Pointer | null
  readonly createDCtx: () => Pointer | null
  readonly freeCCtx: (context: Pointer) => Size
  readonly freeDCtx: (context: Pointer) => Size
  readonly resetCCtx: (context: Pointer, directive: number) => Size
  readonly resetDCtx: (context: Pointer, directive: number) => Size
  readonly setCParameter: (context: Pointer, parameter: number, value: number) => Size
  readonly setPledgedSize: (context: Pointer, sizeBytes: number) => Size
  readonly setDParameter: (context: Pointer, parameter: number, value: number) => Size
  readonly compressBound: (sizeBytes: number) => Size
  readonly compress2: (context: Pointer, out: Uint8Array, room: number, bytes: Uint8Array, size: number) => Size
  readonly decompressDCtx: (context: Pointer, out: Uint8Array, room: number, bytes: Uint8Array, size: number) => Size
  readonly compressStream2: (context: Pointer, outBuffer: Pointer, inBuffer: Pointer, directive: number) => Size
  readonly decompressStream: (context: Pointer, outBuffer: Pointer, inBuffer: Pointer) => Size
  readonly errorName: (code: Size) => string
}

interface Koffi {
  address(buffer: ArrayBufferView): Pointer
  load(library: string | null, options?: { readonly deep: boolean }): { func<T>(declaration: string): T }
}

const LIBRARY = 'libzstd.so.1'

let attempt: { readonly library: Library } | { readonly failure: string } | undefined

const loaded = (): NonNullable<typeof attempt> => {
  attempt ??= load()
  return attempt
}

const load = (): NonNullable<typeof attempt> => {
  try {
    const koffi: Koffi = createRequire(import.meta.url)('koffi')
    return { library: ofNode(koffi) ?? ofSystem(koffi) }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    return { failure: `zstd needs ${LIBRARY} (1.4 or later), or Node 22.15, and the npm package koffi: ${reason}` }
  }
}

const ofNode = (koffi: Koffi): Library | undefined => {
  try {
    return libraryOf(koffi, koffi.load(null))
  } catch {
    return undefined
  }
}

/**
 * `deep` binds the library to its own symbols. Else a Node with a built-in zstd could supply functions of
 * another release, and the process would crash.
 */
const ofSystem = (koffi: Koffi): Library => libraryOf(koffi, koffi.load(LIBRARY, { deep: true }))

const libraryOf = (koffi: Koffi, library: ReturnType<Koffi['load']>): Library => ({
  addressOf: (buffer) => koffi.address(buffer),
  createCCtx: library.func('void *ZSTD_createCCtx()'),
  createDCtx: library.func('void *ZSTD_createDCtx()'),
  freeCCtx: library.func('size_t ZSTD_freeCCtx(void *)'),
  freeDCtx: library.func('size_t ZSTD_freeDCtx(void *)'),
  resetCCtx: library.func('size_t ZSTD_CCtx_reset(void *, int)'),
  resetDCtx: library.func('size_t ZSTD_DCtx_reset(void *, int)'),
  setCParameter: library.func('size_t ZSTD_CCtx_setParameter(void *, int, int)'),
  setPledgedSize: library.func('size_t ZSTD_CCtx_setPledgedSrcSize(void *, uint64_t)'),
  setDParameter: library.func('size_t ZSTD_DCtx_setParameter(void *, int, int)'),
  compressBound: library.func('size_t ZSTD_compressBound(size_t)'),
  compress2: library.func('size_t ZSTD_compress2(void *, void *, size_t, const void *, size_t)'),
  decompressDCtx: library.func('size_t ZSTD_decompressDCtx(void *, void *, size_t, const void *, size_t)'),
  compressStream2: library.func('size_t ZSTD_compressStream2(void *, void *, void *, int)'),
  decompressStream: library.func('size_t ZSTD_decompressStream(void *, void *, void *)'),
  errorName: library.func('const char *ZSTD_getErrorName(size_t)'),
})

const zstd = (): Library => {
  const attempt = loaded()
  if ('failure' in attempt) throw new StatusError('FAILED_PRECONDITION', attempt.failure)
  return attempt.library
}

const allocated = (pointer: Pointer | null): Pointer => {
  if (pointer === null) throw new StatusError('RESOURCE_EXHAUSTED', 'no memory for a zstd context')
  return pointer
}

/** Errors are the highest values of size_t: minus their `ZSTD_ErrorCode`. */
const checked = (result: Size): number => {
  if (typeof result !== 'bigint') return result
  if (result === 2n ** 64n - WINDOW_TOO_LARGE) throw new Error(windowTooLarge)
  throw new Error(zstd().errorName(result))
}

/** `ZSTD_error_frameParameter_windowTooLarge` of zstd_errors.h. */
const WINDOW_TOO_LARGE = 16n
const windowTooLarge = `a frame needs a larger window than ${MAX_WINDOW_BYTES} bytes, expected windowLog ${WINDOW_LOG_MAX} at most`

// One ZSTD_outBuffer and one ZSTD_inBuffer, each { pointer, size, position } in 64-bit words. Shared, because
// calls never overlap.
const buffers = new BigUint64Array(new ArrayBuffer(48))
const OUT = 0
const IN = 3
/** Keeps the buffers of the current call alive. */
const held: Buffer[] = []

const aim = (out: Buffer, bytes: Buffer): { readonly outBuffer: Pointer; readonly inBuffer: Pointer } => {
  const { addressOf } = zstd()
  held.push(out, bytes)
  setBuffer(OUT, addressOf(out), out.length)
  setBuffer(IN, bytes.length === 0 ? 0n : addressOf(bytes), bytes.length)
  const at = addressOf(buffers)
  return { outBuffer: at, inBuffer: at + BigInt(IN * buffers.BYTES_PER_ELEMENT) }
}

const setBuffer = (at: number, pointer: Pointer, sizeBytes: number): void => {
  buffers[at] = pointer
  buffers[at + 1] = BigInt(sizeBytes)
  buffers[at + 2] = 0n
}

const moved = (result: Size): Step => {
  held.length = 0
  return [checked(result), Number(buffers[OUT + 2]), Number(buffers[IN + 2])]
}
