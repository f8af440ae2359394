import { StatusError } from '../../base/status-error.js'
import type { Output } from '../../proto/codec.js'
import type { Responses } from '../../rpc/rpc.js'
import { send } from '../send.js'

type StreamId = Output<'google.devtools.build.v1.StreamId'>

/** Events that wait for the disk, or for a client that does not read its acknowledgements. */
const MAX_PENDING = 4096

interface Pending {
  readonly number: number
  readonly durable: Promise<void>
}

/** Acknowledges events in the order of their requests, each when it is on disk. */
export class Acknowledgements {
  readonly #responses: Responses
  #streamId: StreamId | undefined
  #pending: Pending[] = []
  #sending: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  #sent = 0

  constructor(responses: Responses) {
    this.#responses = responses
  }

  /** The stream of the call. Throws INVALID_ARGUMENT if an event is of another one. */
  expect(streamId: StreamId): void {
    const known = this.#streamId
    this.#streamId = known ?? streamId
    if (known === undefined || (known.invocationId === streamId.invocationId && known.buildId === streamId.buildId))
      return
    throw new StatusError('INVALID_ARGUMENT', 'the events of one call are of two streams, expected one')
  }

  add(number: number, durable: Promise<void>): void {
    this.#pending.push({ number, durable })
    this.#sending ??= this.#send()
  }

  /** Resolves once few enough are pending. Rejects if an event did not reach the disk, or the client is gone. */
  async whenFew(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#pending.length - this.#sent >= MAX_PENDING) await this.all()
  }

  /** Resolves when every event is acknowledged. */
  async all(): Promise<void> {
    await this.#sending
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #send(): Promise<void> {
    try {
      for (; this.#sent < this.#pending.length; this.#sent++) {
        const { number, durable } = this.#pending[this.#sent] as Pending
        await durable
        await send(this.#responses, { streamId: this.#streamId, sequenceNumber: number })
        if (this.#sent < MAX_PENDING) continue
        this.#pending = this.#pending.slice(this.#sent + 1)
        this.#sent = -1
      }
    } catch (error) {
      this.#failure = { error }
    }
    this.#pending = []
    this.#sent = 0
    this.#sending = undefined
  }
}
