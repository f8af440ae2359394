import { Code, StatusError } from '../../../base/status-error.js'
import type { Reservation } from '../../../ledger/reservation.js'
import type { Digest } from '../../../reapi/digest.js'
import type { OperationPast, OperationState, Outcome, Stage } from '../../request.js'
import type { ExecutionResult } from '../meter.js'
import type { Context } from './context.js'
import { outcomeBytes } from './outcome-size.js'
import { type Execution, Operation } from './state.js'

/** The clients' half: operations by name, their watchers and their retention. */
export class Operations {
  readonly #byName = new Map<string, Operation>()
  /** Finished operations and their reservations in the ledger. */
  readonly #retained = new Map<Operation, Reservation>()
  #opened = 0
  readonly #context: Context
  readonly #onUnattended: (operation: Operation, error: StatusError) => void

  /** `onUnattended` must complete the operation with the error. */
  constructor(context: Context, onUnattended: (operation: Operation, error: StatusError) => void) {
    this.#context = context
    this.#onUnattended = onUnattended
  }

  /** RESOURCE_EXHAUSTED if the unfinished ones take too much memory. `sizeBytes`: what this one takes. */
  open(name: string, instanceName: string, actionDigest: Digest, sizeBytes: number): void {
    if (this.#byName.has(name)) throw new Error(`operation ${name} exists already`)
    const { ledger } = this.#context
    const reservation = ledger.kinds.operations.reserveOrThrow(ledger.instance(instanceName), sizeBytes)
    const operation = new Operation(name, ++this.#opened, instanceName, actionDigest)
    operation.reservation = reservation
    this.#byName.set(name, operation)
    this.#awaitClient(operation)
    this.#publish(operation)
  }

  /** An operation that clients may see; undefined if it is deleted. */
  get(name: string): Operation | undefined {
    const operation = this.#byName.get(name)
    return operation?.isHidden === true ? undefined : operation
  }

  /** Whether the name is in use, also by a deleted operation. */
  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** The operation unless it is finished, also if it is deleted. For events that are not requests of clients. */
  unfinished(name: string): Operation | undefined {
    const operation = this.#byName.get(name)
    return operation?.outcome === undefined ? operation : undefined
  }

  /** Visible operations with a larger sequence number, oldest first. */
  *all(after = 0): Iterable<Operation> {
    for (const operation of this.#byName.values()) {
      if (!operation.isHidden && operation.sequence > after) yield operation
    }
  }

  attach(name: string): void {
    const operation = this.#byName.get(name)
    if (operation === undefined) return
    operation.clients++
    if (operation.outcome === undefined) this.#context.deadlines.clear(operation.deadline)
  }

  detach(name: string): void {
    const operation = this.#byName.get(name)
    if (operation === undefined) return
    operation.clients--
    if (operation.clients > 0) return
    if (operation.outcome === undefined) this.#awaitClient(operation)
    else this.#context.acknowledgements.released(operation)
  }

  /** A client asked without waiting: the client timeout starts anew. */
  touch(operation: Operation): void {
    if (operation.clients === 0 && operation.outcome === undefined) this.#awaitClient(operation)
  }

  advance(operation: Operation, stage: Stage): void {
    if (operation.stage === stage) return
    operation.stage = stage
    this.#publish(operation)
  }

  complete(operation: Operation, outcome: Outcome, result = resultOf(outcome)): void {
    const { settings, deadlines, nowMs, meter } = this.#context
    meter.completed(result, operation.actionDigest, operation.instanceName)
    operation.outcome = outcome
    operation.execution = undefined
    operation.request = undefined
    operation.reservation?.release()
    operation.reservation = undefined
    operation.stage = 'COMPLETED'
    this.#publish(operation)
    if (operation.isHidden) {
      this.forget(operation)
      return
    }
    if (!this.#retain(operation, outcome)) {
      this.forget(operation)
      return
    }
    operation.deadline.onDue = () => this.forget(operation)
    deadlines.set(operation.deadline, nowMs + settings.retainCompletedForMs)
  }

  /** Does not cancel: an unfinished operation continues, and is forgotten when it completes. */
  delete(operation: Operation): void {
    operation.isHidden = true
    if (operation.outcome !== undefined) this.forget(operation)
  }

  forget(operation: Operation): void {
    this.#byName.delete(operation.name)
    this.#context.acknowledgements.released(operation)
    this.#retained.get(operation)?.release()
    this.#retained.delete(operation)
    this.#context.deadlines.clear(operation.deadline)
  }

  /** False when the outcome alone is more than may be kept. Older ones are forgotten to make room for it. */
  #retain(operation: Operation, outcome: Outcome): boolean {
    const { ledger } = this.#context
    const holder = ledger.instance(operation.instanceName)
    const reservation = ledger.kinds.outcomes.reserve(holder, outcomeBytes(outcome), () => this.forget(operation))
    if (reservation === undefined) return false
    this.#retained.set(operation, reservation)
    return true
  }

  #awaitClient(operation: Operation): void {
    const { settings, deadlines, nowMs } = this.#context
    const seconds = settings.clientActionTimeoutMs / 1000
    operation.deadline.onDue = () => {
      const message = `no client listened to ${operation.name} for ${seconds} s (client_action_timeout_s)`
      this.#onUnattended(operation, new StatusError('DEADLINE_EXCEEDED', message))
    }
    deadlines.set(operation.deadline, nowMs + settings.clientActionTimeoutMs)
  }

  #publish(operation: Operation): void {
    this.#context.emit({ kind: 'publish', state: stateOf(operation) })
  }
}

/** The metric's label for an outcome. */
export const resultOf = (outcome: Outcome): ExecutionResult => {
  if ('response' in outcome && outcome.response.cachedResult) return 'cache_hit'
  const code = 'error' in outcome ? outcome.error.code : (outcome.response.status?.code ?? Code.OK)
  if (code === Code.DEADLINE_EXCEEDED) return 'timeout'
  if (code === Code.CANCELLED) return 'cancelled'
  return 'response' in outcome && code === Code.OK && outcome.response.result?.exitCode === 0 ? 'success' : 'failure'
}

export const stateOf = (operation: Operation): OperationState => {
  const { name, instanceName, actionDigest, stage, outcome, joined, execution } = operation
  return { name, instanceName, actionDigest, stage, outcome, joined, past: execution && pastOf(execution) }
}

const pastOf = ({ queuedMs, attempts, failures, attempt, scope }: Execution): OperationPast => ({
  ...{ queuedMs, attempts, failures },
  running: attempt && { attemptId: attempt.id, workerId: attempt.worker.id, scope },
})
