import { Readable } from 'node:stream'
import { isStatus, StatusError } from '../../../base/status-error.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { chunksOf } from '../../../stream/blob/chunks.js'
import type { BlobFile } from '../../../stream/blob/file.js'
import { streamsOf } from '../../../stream/blob/form.js'
import { closeAfter } from '../../../stream/call-back.js'
import { join } from '../../../stream/join.js'
import { type ReadPath, STAGE_BYTES } from '../../../stream/path.js'

/** How a read continues when its first source fails. */
export interface Rest {
  /** The length of the whole read. Without it a source is believed where it ends. */
  readonly expectedBytes?: number | undefined
  /**
   * Opens what follows the first `handedOut` bytes in another source. `areRight` is false if those bytes may be damaged.
   * Rejects with the error for the reader.
   */
  open(failure: StatusError, handedOut: number, areRight: boolean, signal: AbortSignal): Promise<Blob>
}

/** Takes the next bytes. False if there is no room for more: `whenRoom` is called once there is, or nothing is wanted. */
export type Take = (bytes: Buffer, whenRoom: () => void) => boolean

/** Gives its bytes to `take`. Settles when nothing of it is open any more; rejects if it fails or the signal aborts. */
export type Source = (take: Take, signal: AbortSignal) => Promise<void>

/**
 * A blob from the fast tier that is read on elsewhere if fast fails. Its form stays the same. A small blob that still has
 * to be verified is verified at once, and rejects if it is damaged.
 */
export const readingOn = async (blob: Blob, rest: Rest, call: Call): Promise<Blob> => {
  const { sizeBytes, offset } = blob
  const [bare, check] = blob.withoutCheck()
  const checked = (whole: Blob): Blob => (check === undefined ? whole : whole.verify(check.digest, check))
  if (check !== undefined && sizeBytes !== undefined && sizeBytes <= STAGE_BYTES) {
    const bytes = await checked(bare).bytes(STAGE_BYTES, call)
    return Blob.ofBytes(bytes, { offset }).assumeVerified(check.digest)
  }
  const form = await bare.take()
  if (form.kind === 'bytes') return checked(Blob.ofBytes(form.bytes, { offset }))
  if (form.kind === 'file') return checked(Blob.ofFile(new FileReadOn(form.file, rest, call), { offset }))
  return checked(Blob.ofPath([new ReadOn(sourceOf(streamsOf(form)), rest)], { sizeBytes, offset }))
}

const sourceOf =
  (path: ReadPath): Source =>
  (take, signal) => {
    const last: Readable = path[path.length - 1] ?? path[0]
    const resume = (): void => void last.resume()
    last.on('data', (bytes: Buffer) => take(bytes, resume) || last.pause())
    return join(path, signal)
  }

/**
 * The bytes of a source, and those of the rest from the position where the source fails or ends early. Bytes already
 * passed on stay passed on: they are not held back for verification. A failure of the rest is the reader's.
 */
export class ReadOn extends Readable {
  readonly #first: Source
  readonly #rest: Rest
  readonly #controller = new AbortController()
  #running: Promise<void> | undefined
  #handedOut = 0
  #whenRoom = (): void => {}

  constructor(first: Source, rest: Rest) {
    super({ highWaterMark: STAGE_BYTES })
    this.#first = first
    this.#rest = rest
  }

  override _read(): void {
    this.#running ??= this.#run()
    this.#whenRoom()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#controller.abort(error ?? undefined)
    this.#whenRoom()
    // Also a source that was never read has something to close.
    closeAfter(this.#running ?? this.#run(), error, callback)
  }

  async #run(): Promise<void> {
    try {
      await this.#pass(this.#first).catch((error: unknown) => this.#changeOver(StatusError.from(error)))
      this.push(null)
    } catch (error) {
      this.destroy(StatusError.from(error))
    }
  }

  async #pass(source: Source): Promise<void> {
    await source((bytes, whenRoom) => {
      this.#handedOut += bytes.length
      this.#whenRoom = whenRoom
      return this.push(bytes)
    }, this.#controller.signal)
    const { expectedBytes = 0 } = this.#rest
    if (this.#handedOut >= expectedBytes) return
    throw new StatusError('UNAVAILABLE', `a blob ended after ${this.#handedOut} of ${expectedBytes} bytes`)
  }

  /** After DATA_LOSS it is unknown which of the bytes were wrong. */
  async #changeOver(failure: StatusError): Promise<void> {
    const { signal } = this.#controller
    if (signal.aborted) throw failure
    const areRight = this.#handedOut === 0 || !isStatus(failure, 'DATA_LOSS')
    const blob = await this.#rest.open(failure, this.#handedOut, areRight, signal)
    await this.#pass(sourceOf(blob.path()))
  }
}

/** The same for a file, which readers copy into their own buffers. A read that fails says nothing about earlier bytes. */
class FileReadOn implements BlobFile {
  readonly sizeBytes: number
  readonly bufferBytes: number
  readonly #file: BlobFile
  readonly #rest: Rest
  readonly #call: Call
  #chunks: AsyncGenerator<Buffer> | undefined
  #chunk: Buffer = NO_BYTES
  #position = 0

  constructor(file: BlobFile, rest: Rest, call: Call) {
    this.sizeBytes = file.sizeBytes
    this.bufferBytes = file.bufferBytes
    this.#file = file
    this.#rest = rest
    this.#call = call
  }

  async read(into: Buffer, position: number): Promise<number> {
    if (this.#chunks === undefined || position !== this.#position) {
      try {
        return await this.#file.read(into, position)
      } catch (error) {
        await this.#changeOver(StatusError.from(error), position)
      }
    }
    while (this.#chunk.length === 0) {
      const step = await this.#chunks?.next()
      if (step === undefined || step.done === true)
        throw new StatusError('DATA_LOSS', `a blob ended after ${this.#position} of ${this.sizeBytes} bytes`)
      this.#chunk = step.value
    }
    const count = this.#chunk.copy(into)
    this.#chunk = this.#chunk.subarray(count)
    this.#position += count
    return count
  }

  async close(): Promise<void> {
    await Promise.all([this.#file.close(), this.#chunks?.return(undefined)])
  }

  async #changeOver(failure: StatusError, position: number): Promise<void> {
    const { signal } = this.#call
    await this.#chunks?.return(undefined)
    this.#chunks = chunksOf(await this.#rest.open(failure, position, true, signal), signal)
    this.#chunk = NO_BYTES
    this.#position = position
  }
}

const NO_BYTES = Buffer.alloc(0)
