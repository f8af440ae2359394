import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Input } from '../../proto/codec.js'
import { timestampOf } from '../../proto/time.js'
import { packedOrigin } from '../../reapi/result-origin.js'
import type { ExecutionRequest, StartAttempt, WorkerLink, WorkerPool } from '../../scheduler/scheduler.js'
import type { LentStoreResponse } from '../../store/lent/server.js'
import { Room } from '../../work/room.js'

type SchedulerMessage = Input<'remexec.worker.v1.SchedulerMessage'>

/** Maximum number of messages queued for a worker that does not read. Normally there are a few for each attempt. */
const MAX_WAITING_MESSAGES = 10_000

const NO_BYTES = Buffer.alloc(0)

/** How long acknowledgements of results are collected, in ms. Meanwhile the worker only keeps the result. */
export const ACKNOWLEDGE_WITHIN_MS = 20

export interface StreamLinkOptions {
  readonly keepAliveIntervalMs: number
  readonly isIsolated: (instanceName: string) => boolean
  readonly clock: Clock
  /** Of the leader of several servers. */
  readonly term?: WorkerPool['term']
  /** The worker's identity for results; undefined if results are to omit it. */
  readonly workerIdentity?: string | undefined
}

/**
 * The scheduler's end of a worker's stream. Writes never block, because messages are small and their number is bounded.
 */
export class StreamLink implements WorkerLink {
  /** Whether the worker keeps scopes apart. */
  knowsScopes = false
  /** Gives an attempt back that the worker must not have. */
  onRefused: ((attemptId: string, error: StatusError) => void) | undefined
  /** Why the scheduler closed the link. */
  failure: StatusError | undefined
  readonly #responses: Writable
  readonly #room: Room
  readonly #requests: Readable
  readonly #keepAliveIntervalMs: number
  readonly #isIsolated: (instanceName: string) => boolean
  readonly #clock: Clock
  readonly #workerIdentity: string | undefined
  readonly #term: WorkerPool['term']
  #workerId = ''
  #hasEnded = false
  #acknowledged: string[] = []

  constructor(responses: Writable, requests: Readable, options: StreamLinkOptions) {
    const { keepAliveIntervalMs, isIsolated, clock, workerIdentity } = options
    this.#workerIdentity = workerIdentity
    this.#term = options.term
    this.#isIsolated = isIsolated
    this.#clock = clock
    this.#responses = responses
    this.#room = new Room(responses)
    this.#requests = requests
    this.#keepAliveIntervalMs = keepAliveIntervalMs
  }

  welcome(workerId: string, workerKey: string): void {
    this.#workerId = workerId
    this.#send({ welcome: { workerId, workerKey, ...this.#term, keepAliveIntervalMs: this.#keepAliveIntervalMs } })
  }

  start({ attemptId, operationName, request, queuedMs }: StartAttempt): void {
    const { instanceName, actionDigest, properties, trace, doNotCache, priority, scope = '' } = request
    if (scope !== '' && !this.knowsScopes) {
      const reason = 'the worker is of an older release, which does not keep scopes apart'
      this.onRefused?.(attemptId, new StatusError('UNAVAILABLE', reason))
      return
    }
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
        scope: { name: scope },
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

  readPrinted(asked: Parameters<WorkerLink['readPrinted']>[0]): void {
    this.#send({ readPrinted: asked })
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

  /** Sends an answer. Resolves once the stream has room for more. */
  async answer(id: number, response: LentStoreResponse): Promise<void> {
    if (this.#hasEnded) return
    this.#send({ storeResponse: { id, ...response } })
    await this.#room.free()
  }

  close(error: StatusError): void {
    this.failure ??= error
    this.#requests.destroy(error)
  }

  /** The call is over: nothing more can be sent. */
  end(): void {
    this.#hasEnded = true
    this.#room.close()
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
