import { Readable } from 'node:stream'
import { isStatus, StatusError } from '../../../base/status-error.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { chunksOf } from '../../../stream/blob/chunks.js'
import type { BlobFile } from '../../../stream/blob/file.js'
import { streamsOf } from '../../../stream/blob/form.js'
import { closeAfter } from '../../../stream/call-back.js'
import { join } from '../../../stream/join.js'
import { discard, type ReadPath, STAGE_BYTES } from '../../../stream/path.js'

/** How a read of the fast tier continues after fast has failed. */
export interface Rest {
  /** The expected length; undefined for a blob under a key. */
  readonly expectedBytes: number | undefined
  /**
   * Opens the rest of the range after `handedOut` bytes from another store. `areRight` is false if those bytes may be
   * damaged. Rejects with the error for the reader.
   */
  open(failure: StatusError, handedOut: number, areRight: boolean, signal: AbortSignal): Promise<Blob>
}

/**
 * A blob from the fast tier whose rest comes from elsewhere if fast fails. Its form stays the same. A small blob that
 * still has to be verified is verified at once, and rejects if it is damaged.
 */
export const goingOn = async (blob: Blob, rest: Rest, call: Call): Promise<Blob> => {
  const { sizeBytes, offset } = blob
  const [bare, check] = blob.withoutCheck()
  const checked = (whole: Blob): Blob => (check === undefined ? whole : whole.verify(check.digest, check))
  if (check !== undefined && sizeBytes !== undefined && sizeBytes <= STAGE_BYTES) {
    const bytes = await checked(bare).bytes(STAGE_BYTES, call)
    return Blob.ofBytes(bytes, { offset }).assumeVerified(check.digest)
  }
  const form = await bare.take()
  if (form.kind === 'bytes') return checked(Blob.ofBytes(form.bytes, { offset }))
  if (form.kind === 'file') return checked(Blob.ofFile(new GoingOnFile(form.file, rest), { offset }))
  return checked(Blob.ofPath([new GoingOn(streamsOf(form), rest)], { sizeBytes, offset }))
}

/**
 * Streams, and their replacement when they fail or end early. Bytes already passed on stay passed on: they are not held
 * back for verification.
 */
class GoingOn extends Readable {
  readonly #rest: Rest
  readonly #controller = new AbortController()
  #path: ReadPath
  #running: Promise<void> | undefined
  #handedOut = 0
  #isRest = false

  constructor(path: ReadPath, rest: Rest) {
    super({ highWaterMark: STAGE_BYTES })
    this.#path = path
    this.#rest = rest
  }

  override _read(): void {
    if (this.#running === undefined) this.#run()
    else this.#path[this.#path.length - 1]?.resume()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (this.#running === undefined) discard(this.#path)
    this.#controller.abort(error ?? undefined)
    closeAfter(Promise.resolve(this.#running), error, callback)
  }

  #run(): void {
    const last = this.#path[this.#path.length - 1] as Readable
    last.on('data', (bytes: Buffer) => {
      this.#handedOut += bytes.length
      if (!this.push(bytes)) last.pause()
    })
    this.#running = join(this.#path, this.#controller.signal)
      .then(() => this.#ended())
      .catch((error: StatusError) => this.#failed(error))
      .catch((error: unknown) => void this.destroy(StatusError.from(error)))
  }

  #ended(): void {
    const { expectedBytes = this.#handedOut } = this.#rest
    if (this.#handedOut >= expectedBytes || this.#isRest) this.push(null)
    else throw new StatusError('UNAVAILABLE', `a blob ended after ${this.#handedOut} of ${expectedBytes} bytes`)
  }

  /** After DATA_LOSS it is unknown which of the bytes were wrong. */
  async #failed(error: StatusError): Promise<void> {
    const { signal } = this.#controller
    if (this.#isRest || signal.aborted) throw error
    const areRight = this.#handedOut === 0 || !isStatus(error, 'DATA_LOSS')
    const blob = await this.#rest.open(error, this.#handedOut, areRight, signal)
    this.#isRest = true
    this.#path = blob.path()
    if (signal.aborted) discard(this.#path)
    else this.#run()
  }
}

/** A file whose bytes come from elsewhere from the first failed read on. Earlier reads used the file. */
class GoingOnFile implements BlobFile {
  readonly #file: BlobFile
  readonly #rest: Rest
  readonly #controller = new AbortController()
  #chunks: AsyncGenerator<Buffer> | undefined
  #chunk: Buffer = NO_BYTES
  #position = 0

  constructor(file: BlobFile, rest: Rest) {
    this.#file = file
    this.#rest = rest
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes
  }

  get bufferBytes(): number {
    return this.#file.bufferBytes
  }

  async read(into: Buffer, position: number): Promise<number> {
    if (this.#chunks !== undefined && position === this.#position) return this.#readOn(into)
    try {
      return await this.#file.read(into, position)
    } catch (error) {
      await this.#chunks?.return(undefined)
      const { signal } = this.#controller
      const blob = await this.#rest.open(StatusError.from(error), position, true, signal)
      this.#chunks = chunksOf(blob, signal)
      this.#chunk = NO_BYTES
      this.#position = position
      return this.#readOn(into)
    }
  }

  async close(): Promise<void> {
    this.#controller.abort()
    await Promise.all([this.#file.close(), this.#chunks?.return(undefined)])
  }

  async #readOn(into: Buffer): Promise<number> {
    while (this.#chunk.length === 0) {
      const step = await this.#chunks?.next()
      if (step === undefined || step.done === true) {
        throw new StatusError('DATA_LOSS', `a blob ended after ${this.#position} of ${this.sizeBytes} bytes`)
      }
      this.#chunk = step.value
    }
    const count = this.#chunk.copy(into)
    this.#chunk = this.#chunk.subarray(count)
    this.#position += count
    return count
  }
}

const NO_BYTES = Buffer.alloc(0)
