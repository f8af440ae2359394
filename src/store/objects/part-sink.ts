import { cancellation, whenAborted } from '../../rpc/call.js'
import type { BlobForm } from '../../stream/blob/form.js'
import { pour } from '../../stream/blob/pour.js'
import type { ObjectChunk, PartedUpload } from './bucket.js'
import type { PartBuffers } from './part-buffers.js'

export interface PartSinkOptions {
  /** The length of every part but the last. */
  readonly partBytes: number
  /** Objects up to this size are written in one request. */
  readonly wholeBytes: number
  readonly isSequential: boolean
  /** Expected length: at least the real one, unless that is unknown. */
  readonly expectedBytes: number
  readonly buffers: PartBuffers
  /** Writes a whole object. */
  write(bytes: Buffer): Promise<void>
  begin(): Promise<PartedUpload>
  /** Waits until a part may be sent. Call the result afterwards. */
  takeTurn(signal: AbortSignal): Promise<() => void>
  /** Sends a part, with retries. */
  send(upload: PartedUpload, part: ObjectChunk, signal: AbortSignal): Promise<void>
  complete(upload: PartedUpload): Promise<void>
  /** Discards an upload. Never rejects. */
  abort(upload: PartedUpload): Promise<void>
}

/**
 * Uploads an object in parts. Each byte is copied once, into the part being filled. Besides that part it holds only
 * those being sent; while none may be sent, the source waits. The object becomes visible as a whole.
 */
export class PartSink {
  readonly #options: PartSinkOptions
  readonly #controller = new AbortController()
  /** The part being filled. Released as soon as possible. */
  #part: Buffer
  #filled = 0
  readonly #sending = new Set<Promise<unknown>>()
  #beginning: Promise<PartedUpload> | undefined
  #failure: Error | undefined
  #partCount = 0

  constructor(options: PartSinkOptions) {
    this.#options = options
    this.#part = options.buffers.take(Math.min(options.partBytes, options.expectedBytes))
  }

  /** Uploads the whole blob once and makes it visible. Rejects after everything sent was discarded. */
  async put(form: BlobForm, signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#controller.abort(cancellation(signal))
    if (signal.aborted) abort()
    whenAborted(signal, abort)
    try {
      await pour(
        form,
        (bytes) => this.#take(bytes),
        this.#controller.signal,
        // A part may be waiting for its turn to be sent.
        () => this.#controller.abort(),
      )
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
    return this.#sendFull(bytes)
  }

  /** Sends full parts that are known not to be the last one. */
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

  /** Resolves once the sending has started. If parts are sequential, the next one is filled meanwhile. */
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
      // Do not reuse the buffer of a failed part, which may still be in use, or of the last part, sent by the commit.
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

  /** Ends the transfer, or the commit after it, with this failure. */
  #fail(error: Error): void {
    this.#failure ??= error
    this.#controller.abort(error)
  }

  async #giveUp(): Promise<void> {
    this.#controller.abort()
    this.#part = NO_BYTES
    await Promise.allSettled(this.#sending)
    // `begin` cannot be aborted, so that no unknown upload remains.
    const upload = await this.#beginning?.catch(() => undefined)
    if (upload !== undefined) await this.#options.abort(upload)
  }
}

const NO_BYTES = Buffer.alloc(0)
