import { createRequire } from 'node:module'
import { StatusError } from '../../base/status-error.js'

// zstd's C interface, called through koffi, whose binaries come inside its npm packages: nothing is compiled and nothing
// fetched at install. From 22.15 on Node has zstd inside and lets it be called by name; before that it is the system's
// libzstd. Node's own streams would not do: they work in the thread pool, end with the first frame and do not tell what
// they consumed, and a kept frame is cut into records by exactly that. Measured on a binary in chunks of 64 KiB, a call
// through koffi costs what one through a native package does (32 MiB: 90 ms to compress, 32 ms to decompress; 16
// microseconds for 2 KiB there and back).

/** `ZSTD_cParameter` of zstd.h, as far as it is used. */
export const CompressParameter = {
  compressionLevel: 100,
  windowLog: 101,
  contentSizeFlag: 200,
  checksumFlag: 201,
} as const

/** `ZSTD_dParameter` of zstd.h, as far as it is used. */
const DecompressParameter = { windowLogMax: 100 } as const

/** Every decoder supports windows of 8 MiB (RFC 8878, 3.1.1.1.2). libzstd alone would allocate up to 128 MiB for a stream. */
const WINDOW_LOG_MAX = 23
export const MAX_WINDOW_BYTES = 2 ** WINDOW_LOG_MAX

/** `ZSTD_EndDirective` of zstd.h. */
export const EndDirective = { continue: 0, end: 2 } as const

const RESET_SESSION = 1

/** How much is left to do (0: the frame is whole), bytes produced, bytes consumed. */
export type Step = readonly [left: number, produced: number, consumed: number]

/** Native memory, which is given back by `close`, after which every other method throws, or with the object. */
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

/** A `ZSTD_CCtx`. Every method throws what libzstd says is wrong. */
export class CompressContext extends Context {
  constructor() {
    super(allocated(zstd().createCCtx()), zstd().freeCCtx)
  }

  setParameter(parameter: number, value: number): void {
    checked(zstd().setCParameter(this.pointer, parameter, value))
  }

  /** Announces the length of the next stream, which its frame then tells. */
  pledge(sizeBytes: number): void {
    checked(zstd().setPledgedSize(this.pointer, sizeBytes))
  }

  /** Forgets the stream under way, keeps the parameters. */
  reset(): void {
    checked(zstd().resetCCtx(this.pointer, RESET_SESSION))
  }

  /** One frame into `out`, which has to have room for it all; gives its length. */
  compress(out: Buffer, bytes: Uint8Array): number {
    return checked(zstd().compress2(this.pointer, out, out.length, bytes, bytes.length))
  }

  compressStream(out: Buffer, bytes: Buffer, directive: number): Step {
    const { outBuffer, inBuffer } = aim(out, bytes)
    return moved(zstd().compressStream2(this.pointer, outBuffer, inBuffer, directive))
  }
}

/** A `ZSTD_DCtx`, which decodes streams with windows of at most MAX_WINDOW_BYTES. Methods throw the errors of libzstd. */
export class DecompressContext extends Context {
  constructor() {
    super(allocated(zstd().createDCtx()), zstd().freeDCtx)
    checked(zstd().setDParameter(this.pointer, DecompressParameter.windowLogMax, WINDOW_LOG_MAX))
  }

  /** Forgets the stream under way. */
  reset(): void {
    checked(zstd().resetDCtx(this.pointer, RESET_SESSION))
  }

  /** Whole frames into `out`, which has to have room for all their content; gives its length. */
  decompress(out: Buffer, bytes: Uint8Array): number {
    return checked(zstd().decompressDCtx(this.pointer, out, out.length, bytes, bytes.length))
  }

  decompressStream(out: Buffer, bytes: Buffer): Step {
    const { outBuffer, inBuffer } = aim(out, bytes)
    return moved(zstd().decompressStream(this.pointer, outBuffer, inBuffer))
  }
}

/** The longest a frame of so many bytes gets. */
export const compressBound = (sizeBytes: number): number => checked(zstd().compressBound(sizeBytes))

/** Why there is no zstd on this machine; undefined where there is. */
export const zstdFailure = (): string | undefined => {
  const attempt = loaded()
  return 'failure' in attempt ? attempt.failure : undefined
}

type Pointer = bigint
/** A `size_t`: beyond the safe integers, where error codes are, a bigint. */
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

/** Bound to itself: a Node with some zstd of its own would else lend it functions of another release, and crash. */
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

// One ZSTD_outBuffer and one ZSTD_inBuffer, each { pointer, size, position } in 64-bit words: calls come one after another.
const buffers = new BigUint64Array(new ArrayBuffer(48))
const OUT = 0
const IN = 3
/** What they point at, which must outlive the call. */
const held: Buffer[] = []

const aim = (out: Buffer, bytes: Buffer): { readonly outBuffer: Pointer; readonly inBuffer: Pointer } => {
  const { addressOf } = zstd()
  held.push(out, bytes)
  place(OUT, addressOf(out), out.length)
  place(IN, bytes.length === 0 ? 0n : addressOf(bytes), bytes.length)
  const at = addressOf(buffers)
  return { outBuffer: at, inBuffer: at + BigInt(IN * buffers.BYTES_PER_ELEMENT) }
}

const place = (at: number, pointer: Pointer, sizeBytes: number): void => {
  buffers[at] = pointer
  buffers[at + 1] = BigInt(sizeBytes)
  buffers[at + 2] = 0n
}

const moved = (result: Size): Step => {
  held.length = 0
  return [checked(result), Number(buffers[OUT + 2]), Number(buffers[IN + 2])]
}
