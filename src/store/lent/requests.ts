import { NEVER, whenAborted } from '../../base/cancellation.js'
import { StatusError } from '../../base/status-error.js'
import type { Input } from '../../proto/codec.js'
import { errorOf } from '../../proto/error-details.js'
import type { StoreRequestInput, StoreResponse } from '../../proto/generated/remexec.worker.v1.js'
import type { Digest } from '../../reapi/digest.js'
import { type Call, cancellation } from '../../rpc/call.js'
import { Semaphore } from '../../work/semaphore.js'

/** A message from a worker to its server; requests for the lent stores travel among the others. */
export type WorkerMessage = Input<'remexec.worker.v1.WorkerMessage'>

export type LentStoreRequest = Omit<StoreRequestInput, 'id' | 'digestFunction' | 'apart' | 'traceparent' | 'tracestate'>

/** The call that sends the request. Without a signal the request cannot be cancelled. */
type Asker = Partial<Pick<Call, 'signal' | 'span'>>

/** The properties that all digests of a request share. */
export type Scope = Pick<Digest, 'function' | 'instanceName'>

const AT_A_TIME = 64
const MAX_ID = 0xffff_ffff

interface Pending {
  readonly resolve: (response: StoreResponse) => void
  readonly reject: (error: StatusError) => void
}

/** Sends store requests of this worker to its server, over the worker's connection to the scheduler. */
export class LentStoreRequests {
  readonly #send: (message: WorkerMessage) => boolean
  readonly #pending = new Map<number, Pending>()
  readonly #slots = new Semaphore({ permits: AT_A_TIME, maxWaiting: Number.POSITIVE_INFINITY })
  #lastId = 0

  /** `send` returns whether there is a connection. */
  constructor(send: (message: WorkerMessage) => boolean) {
    this.#send = send
  }

  /** Rejects like the store, and with UNAVAILABLE if the connection is lost before the answer. */
  async ask(scope: Scope, request: LentStoreRequest, { signal, span }: Asker = {}): Promise<StoreResponse> {
    const end = await this.#slots.acquire('a turn to ask the server', signal ?? NEVER)
    try {
      return await this.#answer(scope, { ...request, ...span?.context }, signal)
    } finally {
      end()
    }
  }

  /** Sends a request without an answer. */
  send(request: LentStoreRequest): void {
    this.#send({ storeRequest: { ...request, id: this.#nextId() } })
  }

  receive(response: StoreResponse): void {
    const pending = this.#pending.get(response.id)
    this.#pending.delete(response.id)
    if (response.failure === null) pending?.resolve(response)
    else pending?.reject(errorOf(response.failure))
  }

  /** Rejects all pending requests, because the connection is gone. */
  lost(): void {
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(unavailable())
  }

  #answer(
    { function: digestFunction, instanceName }: Scope,
    request: LentStoreRequest,
    signal: AbortSignal | undefined,
  ): Promise<StoreResponse> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId()
      const giveUp = (): void => {
        this.#pending.delete(id)
        reject(cancellation(signal))
      }
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          signal?.removeEventListener('abort', giveUp)
          settle(value)
        }
      this.#pending.set(id, { resolve: settled(resolve), reject: settled(reject) })
      if (signal !== undefined) whenAborted(signal, giveUp)
      const apart = instanceName === undefined ? null : { name: instanceName }
      if (this.#send({ storeRequest: { ...request, id, digestFunction: digestFunction.value, apart } })) return
      this.#pending.delete(id)
      settled(reject)(unavailable())
    })
  }

  #nextId(): number {
    this.#lastId = this.#lastId === MAX_ID ? 1 : this.#lastId + 1
    return this.#lastId
  }
}

const unavailable = (): StatusError => new StatusError('UNAVAILABLE', 'the server whose store this worker uses is gone')

/** Splits `items` into pieces of at most `count`, in order. */
export const inPieces = function* <Item>(items: readonly Item[], count: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += count) yield items.slice(at, at + count)
}

/** The digest without the instance: the server adds the instance of the request itself. */
export const messageOf = ({ content }: Digest) => content.toMessage()

export const messagesOf = (digests: readonly Digest[]) => digests.map(messageOf)
