import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Input } from '../../proto/codec.js'
import { timestampOf } from '../../proto/time.js'
import { packedOrigin } from '../../reapi/result-origin.js'
import type { ExecutionRequest, StartAttempt, WorkerLink } from '../../scheduler/scheduler.js'
import type { StoreAnswer } from './store-requests.js'

type SchedulerMessage = Input<'remexec.worker.v1.SchedulerMessage'>

/** Messages that may wait for a worker that does not read. A worker has at most a few for each of its attempts. */
const MAX_WAITING_MESSAGES = 10_000

const NO_BYTES = Buffer.alloc(0)

/** How long a result waits to be acknowledged together with others; its worker does nothing but keep it meanwhile. */
export const ACKNOWLEDGE_WITHIN_MS = 20

export interface StreamLinkOptions {
  readonly keepAliveIntervalMs: number
  readonly isIsolated: (instanceName: string) => boolean
  readonly clock: Clock
  /** As who the worker is known, where results are to say so. */
  readonly workerIdentity?: string | undefined
}

/** A worker's stream as the scheduler uses it. Writing never waits: what it sends is small, and bounded in number. */
export class StreamLink implements WorkerLink {
  /** Why the scheduler closed the link. */
  failure: StatusError | undefined
  readonly #responses: Writable
  readonly #requests: Readable
  readonly #keepAliveIntervalMs: number
  readonly #isIsolated: (instanceName: string) => boolean
  readonly #clock: Clock
  readonly #workerIdentity: string | undefined
  #workerId = ''
  #hasEnded = false
  #acknowledged: string[] = []
  #draining: Promise<void> | undefined
  #wake = (): void => {}

  constructor(responses: Writable, requests: Readable, options: StreamLinkOptions) {
    const { keepAliveIntervalMs, isIsolated, clock, workerIdentity } = options
    this.#workerIdentity = workerIdentity
    this.#isIsolated = isIsolated
    this.#clock = clock
    this.#responses = responses
    this.#requests = requests
    this.#keepAliveIntervalMs = keepAliveIntervalMs
  }

  welcome(workerId: string, workerKey: string): void {
    this.#workerId = workerId
    this.#send({ welcome: { workerId, workerKey, keepAliveIntervalMs: this.#keepAliveIntervalMs } })
  }

  start({ attemptId, operationName, request, queuedMs }: StartAttempt): void {
    const { instanceName, actionDigest, properties, trace, doNotCache, priority } = request
    const { function: digestFunction } = actionDigest
    this.#send({
      start: {
        attemptId,
        operationName,
        instanceName,
        actionDigest: actionDigest.toMessage(),
        digestFunction: digestFunction.value,
        action: request.actionBytes ?? NO_BYTES,
        properties,
        queuedTimestamp: timestampOf(queuedMs),
        ...trace,
        isolated: this.#isIsolated(instanceName),
        origin: this.#originOf(request),
        ...{ doNotCache, priority },
      },
    })
  }

  #originOf({ identity }: ExecutionRequest): Input<'google.protobuf.Any'> | null {
    const workerIdentity = this.#workerIdentity
    if (identity === undefined || workerIdentity === undefined) return null
    return packedOrigin({ identity, workerId: this.#workerId, workerIdentity })
  }

  kill(attemptId: string): void {
    this.#send({ kill: { attemptId } })
  }

  acknowledge(attemptId: string): void {
    if (this.#acknowledged.push(attemptId) > 1) return
    const stop = this.#clock.every(ACKNOWLEDGE_WITHIN_MS, () => {
      stop()
      const attemptIds = this.#acknowledged
      this.#acknowledged = []
      this.#send({ resultAck: { attemptIds } })
    })
  }

  drain(): void {
    this.#send({ drain: {} })
  }

  /** Resolves when the worker has taken so much that more can be sent. */
  async answer(id: number, storeAnswer: StoreAnswer): Promise<void> {
    if (this.#hasEnded) return
    this.#send({ storeResponse: { id, ...storeAnswer } })
    const responses = this.#responses
    if (!responses.writableNeedDrain || responses.destroyed) return
    this.#draining ??= new Promise((resolve) => {
      this.#wake = () => {
        this.#draining = undefined
        resolve()
      }
      responses.once('drain', () => this.#wake())
    })
    await this.#draining
  }

  close(error: StatusError): void {
    this.failure ??= error
    this.#requests.destroy(error)
  }

  /** The call is over: nothing more can be sent. */
  end(): void {
    this.#hasEnded = true
    this.#wake()
  }

  #send(message: SchedulerMessage): void {
    if (this.#hasEnded || this.failure !== undefined || this.#responses.destroyed) return
    this.#responses.write(message)
    if (this.#responses.writableLength <= MAX_WAITING_MESSAGES) return
    this.close(
      new StatusError('RESOURCE_EXHAUSTED', `${MAX_WAITING_MESSAGES} messages wait for a worker that does not read`),
    )
  }
}
