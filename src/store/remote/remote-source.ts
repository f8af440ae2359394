import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { shareable } from '../../rpc/call.js'
import { STAGE_BYTES } from '../../stream/path.js'
import type { StepDeadline } from '../../work/deadline.js'
import type { Attempts, Retry } from './retry.js'

/** What a backend gives of a blob. */
export interface Part {
  /** Its bytes in order, each chunk unchanged from then on; given up by `return()`. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Where in the whole they end, where the backend says so. Fewer are a failure, more are one too. */
  readonly end?: number | undefined
}

/** Asks for the bytes from `position` on. Heeds its signal until the part has ended. */
export type OpenPart = (position: number, signal: AbortSignal) => Promise<Part>

export interface RemoteSourceOptions {
  readonly position: number
  readonly open: OpenPart
  /** False of bytes that cannot be had from their middle on: what is lost after the first of them stays lost. */
  readonly isResumable: boolean
  readonly retry: Retry
  readonly failureOf: (thrown: unknown) => StatusError
  /** Runs work within the deadline of the backend. */
  readonly within: <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** The same for each chunk. */
  readonly deadline: StepDeadline
}

/**
 * The bytes of a blob as a backend gives them. What is lost on the way is asked for again from the byte after the last one
 * that was handed out; each byte comes once. A part that ends early is a loss like any other.
 */
export class RemoteSource extends Readable {
  readonly #options: RemoteSourceOptions
  readonly #controller = new AbortController()
  /** Aborts what was asked for last. */
  #part: AbortController | undefined
  #chunks: AsyncIterator<Uint8Array> | undefined
  #attempts: Attempts | undefined
  #position: number
  #end: number | undefined

  constructor(options: RemoteSourceOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
    this.#position = options.position
  }

  /** Where in the whole the bytes end, where the backend said so. */
  get end(): number | undefined {
    return this.#end
  }

  /** The first attempts, while the caller can still be told that there is no blob. */
  async start(signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#controller.abort(signal.reason)
    shareable(signal)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    try {
      while (this.#chunks === undefined) await this.#try(() => this.#open())
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  override _read(): void {
    this.#next().then(
      (chunk) => this.push(chunk),
      (error: StatusError) => this.destroy(error),
    )
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#controller.abort(error ?? OVER)
    this.#options.deadline.stop()
    this.#close()
    callback(error)
  }

  async #next(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = await this.#try(async () => {
        if (this.#chunks === undefined) await this.#open()
        return this.#pull()
      })
      if (chunk === undefined || chunk?.length === 0) continue
      this.#attempts = undefined
      this.#position += chunk?.length ?? 0
      return chunk
    }
  }

  /** Undefined after a failure that was waited out. */
  async #try<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (thrown) {
      this.#close()
      const { retry, failureOf, isResumable, position } = this.#options
      const error = failureOf(thrown)
      if (!isResumable && this.#position > position) throw error
      this.#attempts ??= retry.attempts()
      await this.#attempts.failed(error, this.#controller.signal)
      return undefined
    }
  }

  async #open(): Promise<void> {
    const { open, within } = this.#options
    this.#part = new AbortController()
    const { signal } = this.#part
    this.#chunks = await within(this.#controller.signal, async () => {
      const { chunks, end } = await open(this.#position, signal)
      this.#end ??= end
      const iterator = chunks[Symbol.asyncIterator]()
      // Nobody waits for it any longer.
      if (signal.aborted) giveUp(iterator)
      return iterator
    })
  }

  async #pull(): Promise<Uint8Array | null> {
    const next = this.#chunks?.next()
    const step = next && (await this.#options.deadline.step(next))
    const chunk = step === undefined || step.done === true ? null : step.value
    const reached = this.#position + (chunk?.length ?? 0)
    const end = this.#end ?? reached
    if (chunk === null ? reached === end : reached <= end) return chunk
    throw new StatusError(
      'UNAVAILABLE',
      `the answer ${chunk === null ? 'ended' : 'went on'} at byte ${reached} of ${end}`,
    )
  }

  #close(): void {
    this.#part?.abort(OVER)
    giveUp(this.#chunks)
    this.#chunks = undefined
  }
}

/** One for all: without a reason each end of a read makes an error with a trace. */
const OVER = new StatusError('CANCELLED', 'nobody wants more of it')

/** What a connection says that is being given up is of no interest. */
const giveUp = (chunks: AsyncIterator<unknown> | undefined): void => {
  chunks?.return?.().catch(() => {})
}
