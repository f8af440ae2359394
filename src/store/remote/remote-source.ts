import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { whenAborted } from '../../rpc/call.js'
import { STAGE_BYTES } from '../../stream/path.js'
import type { StepDeadline } from '../../work/deadline.js'
import type { Attempts, Retry } from './retry.js'

/** A range of a blob from a backend. */
export interface Part {
  /** The bytes in order. Chunks are immutable. Call `return()` to cancel. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Where the bytes should end, if the backend says so. Fewer or more bytes are an error. */
  readonly end?: number | undefined
}

/** Requests the bytes from `position` on. The signal cancels the transfer until it has ended. */
export type OpenPart = (position: number, signal: AbortSignal) => Promise<Part>

export interface RemoteSourceOptions {
  readonly position: number
  readonly open: OpenPart
  /**
   * False if the bytes cannot be requested from the middle. Then a connection lost after the first byte is an error.
   */
  readonly isResumable: boolean
  readonly retry: Retry
  readonly failureOf: (thrown: unknown) => StatusError
  /** Runs work with the deadline of the backend. */
  readonly within: <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** The deadline for each chunk. */
  readonly deadline: StepDeadline
}

/**
 * The bytes of a blob from a backend. After a loss they are requested again from the byte after the last one returned,
 * so each byte comes once. A response that ends early counts as a loss.
 */
export class RemoteSource extends Readable {
  readonly #options: RemoteSourceOptions
  readonly #controller = new AbortController()
  /** Aborts the latest request. */
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

  /** The end of the bytes in the blob, if the backend said so. */
  get end(): number | undefined {
    return this.#end
  }

  /** Makes the first attempts, while the caller can still get NOT_FOUND instead of a blob. */
  async start(signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#controller.abort(signal.reason)
    if (signal.aborted) abort()
    else whenAborted(signal, abort)
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

  /** Undefined after a failure and the wait for a retry. */
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
      // The reader has left meanwhile.
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

/** Shared, because without a reason each ended read would create an error with a stack trace. */
const OVER = new StatusError('CANCELLED', 'the reader has left')

/** Cancels a request. Errors of its connection no longer matter. */
const giveUp = (chunks: AsyncIterator<unknown> | undefined): void => {
  chunks?.return?.().catch(() => {})
}
