import { Writable } from 'node:stream'
import { cancellation, shareable } from '../../base/call.js'
import { STAGE_BYTES } from '../../stream/path.js'
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
 * Collects an object on its way into a bucket. It keeps at most one part that is being filled, besides those that are being
 * sent: the source waits while none may be sent. Nothing is there before `commit`, which is to be called once it finished;
 * destroyed before that it gives the parts up, and closes when they are gone.
 */
export class PartSink extends Writable {
  readonly #options: PartSinkOptions
  readonly #controller = new AbortController()
  /** The part that is being filled, no longer than is needed. */
  #part: Buffer
  #filled = 0
  readonly #sending = new Set<Promise<unknown>>()
  #beginning: Promise<PartedUpload> | undefined
  #failure: Error | undefined
  #partCount = 0

  constructor(options: PartSinkOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
    this.#part = options.buffers.take(Math.min(options.partBytes, options.expectedBytes))
  }

  /** Makes the object visible. Rejects once nothing is left of it. */
  async commit(signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#controller.abort(signal.reason)
    shareable(signal)
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) throw cancellation(signal)
      if (this.#isWhole) await this.#options.write(this.#takeRest())
      else await this.#complete()
    } catch (error) {
      await this.#giveUp()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    const { partBytes } = this.#options
    if (this.#filled + chunk.length <= partBytes) {
      this.#fill(chunk)
      callback()
    } else this.#sendFull(chunk).then(() => callback(), callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (this.writableFinished) callback(error)
    else void this.#giveUp().then(() => callback(error))
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
    this.destroy(error)
  }

  async #giveUp(): Promise<void> {
    this.#controller.abort()
    this.#part = NO_BYTES
    await Promise.allSettled(this.#sending)
    // Begun by a request that nobody aborted, so that there is no upload that nobody knows of.
    const upload = await this.#beginning?.catch(() => undefined)
    if (upload !== undefined) await this.#options.abort(upload)
  }
}

const NO_BYTES = Buffer.alloc(0)
