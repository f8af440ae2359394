import { cancellation, shareable } from '../../rpc/call.js'
import type { BlobForm } from '../../stream/blob/form.js'
import { pour } from '../../stream/blob/pour.js'
import type { ObjectChunk, PartedUpload } from './bucket.js'
import type { PartBuffers } from './part-buffers.js'

export interface PartSinkOptions {
  /** The length of every part but the last. */
  readonly partBytes: number
  /** What has no more bytes is written whole. */
  readonly wholeBytes: number
  readonly isSequential: boolean
  /** How many bytes there will be, or more; fewer only where nobody could know. */
  readonly expectedBytes: number
  readonly buffers: PartBuffers
  /** Writes a whole object. */
  write(bytes: Buffer): Promise<void>
  begin(): Promise<PartedUpload>
  /** Waits until one more part may be sent; the answer is called once it was. */
  takeTurn(signal: AbortSignal): Promise<() => void>
  /** Sends a part, again where that may help. */
  send(upload: PartedUpload, part: ObjectChunk, signal: AbortSignal): Promise<void>
  complete(upload: PartedUpload): Promise<void>
  /** Gives up an upload. Never fails. */
  abort(upload: PartedUpload): Promise<void>
}

/**
 * Collects an object on its way into a bucket: each byte is copied once, into the part that is being filled. It keeps at most
 * that one besides those that are being sent: the source waits while none may be sent. Nothing is there before all of it is.
 */
export class PartSink {
  readonly #options: PartSinkOptions
  readonly #controller = new AbortController()
  /** The part that is being filled, no longer than is needed. */
  #part: Buffer
  #filled = 0
  readonly #sending = new Set<Promise<unknown>>()
  #taking: Promise<void> | undefined
  #beginning: Promise<PartedUpload> | undefined
  #failure: Error | undefined
  #partCount = 0

  constructor(options: PartSinkOptions) {
    this.#options = options
    this.#part = options.buffers.take(Math.min(options.partBytes, options.expectedBytes))
  }

  /** Takes all of a blob and makes the object visible, once. Rejects once nothing is left of it. */
  async put(form: BlobForm, signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#controller.abort(cancellation(signal))
    if (signal.aborted) abort()
    shareable(signal)
    signal.addEventListener('abort', abort, { once: true })
    try {
      await pour(form, (bytes) => this.#take(bytes), this.#controller.signal)
      if (this.#isWhole) await this.#options.write(this.#takeRest())
      else await this.#complete()
    } catch (error) {
      await this.#giveUp()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  #take(bytes: Buffer): Promise<void> | undefined {
    if (this.#filled + bytes.length <= this.#options.partBytes) {
      this.#fill(bytes)
      return undefined
    }
    this.#taking = this.#sendFull(bytes)
    return this.#taking
  }

  /** Sends the parts of which is known that they are not the last one. */
  async #sendFull(chunk: Buffer): Promise<void> {
    const { partBytes } = this.#options
    for (let at = 0; at < chunk.length; ) {
      if (this.#filled === partBytes) await this.#send(false)
      const end = Math.min(chunk.length, at + partBytes - this.#filled)
      this.#fill(chunk.subarray(at, end))
      at = end
    }
  }

  #fill(bytes: Buffer): void {
    const { partBytes, buffers } = this.#options
    const end = this.#filled + bytes.length
    if (end > this.#part.length) {
      const longer = buffers.take(partBytes)
      this.#part.copy(longer, 0, 0, this.#filled)
      this.#part = longer
    }
    bytes.copy(this.#part, this.#filled)
    this.#filled = end
  }

  get #isWhole(): boolean {
    return this.#beginning === undefined && this.#filled <= this.#options.wholeBytes
  }

  async #complete(): Promise<void> {
    const last = this.#part
    const upload = await this.#send(true)
    await Promise.all(this.#sending)
    if (this.#failure !== undefined) throw this.#failure
    await this.#options.complete(upload)
    this.#options.buffers.giveBack(last)
  }

  /** Resolves once the part is on its way; where they go one by one the next one is filled meanwhile. */
  async #send(isLast: boolean): Promise<PartedUpload> {
    const { begin, takeTurn, send, isSequential, buffers } = this.#options
    const { signal } = this.#controller
    this.#beginning ??= begin()
    const upload = await this.#beginning
    if (isSequential) await Promise.all(this.#sending)
    const giveBack = await takeTurn(signal)
    const buffer = this.#part
    const part = { index: this.#partCount++, bytes: this.#takeRest(), isLast }
    const sending = send(upload, part, signal)
      // Of one that failed some may still be on its way, and the last one may leave only with what completes the upload.
      .then(() => isLast || buffers.giveBack(buffer))
      .finally(() => {
        giveBack()
        this.#sending.delete(sending)
      })
    this.#sending.add(sending)
    sending.catch((error: Error) => this.#fail(error))
    return upload
  }

  #takeRest(): Buffer {
    const bytes = this.#part.subarray(0, this.#filled)
    this.#part = NO_BYTES
    this.#filled = 0
    return bytes
  }

  /** A part that failed ends the transfer, or the commit behind it. */
  #fail(error: Error): void {
    this.#failure ??= error
    this.#controller.abort(error)
  }

  async #giveUp(): Promise<void> {
    this.#controller.abort()
    this.#part = NO_BYTES
    // It may be about to send one more.
    await this.#taking?.catch(() => {})
    await Promise.allSettled(this.#sending)
    // Begun by a request that nobody aborted, so that there is no upload that nobody knows of.
    const upload = await this.#beginning?.catch(() => undefined)
    if (upload !== undefined) await this.#options.abort(upload)
  }
}

const NO_BYTES = Buffer.alloc(0)
