import { Deadline, type Deadlines } from './deadlines.js'
import type { Command, Operation, Reported } from './state.js'

/** What of the machine they need. */
interface Machine {
  readonly nowMs: number
  readonly deadlines: Deadlines
  emit(command: Command): void
}

interface Pending extends Reported {
  /** Operations whose clients have not got the outcome yet. */
  waiting: Set<Operation>
  readonly deadline: Deadline
}

/** A client that does not read its end must not keep the worker's copy for ever: this process has the outcome too. */
const AT_MOST_MS = 30_000

/**
 * A worker is told that its result has arrived only when somebody else holds what it came to: the clients that wait for it have
 * got it, or nobody waits and this process retains it. A process that ends before loses nothing: the worker brings the result to
 * the next one. So each outcome that is not in an action cache is in two processes at any time.
 */
export class Acknowledgements {
  readonly #machine: Machine
  readonly #byAttempt = new Map<string, Pending>()
  readonly #byOperation = new Map<Operation, Pending>()

  constructor(machine: Machine) {
    this.#machine = machine
  }

  /** Whether the worker keeps the result of that attempt on, and this process has it. */
  isPending(attemptId: string): boolean {
    return this.#byAttempt.has(attemptId)
  }

  /** A result has come. `deliver` follows. */
  keep(reported: Reported): void {
    const pending: Pending = { ...reported, waiting: new Set(), deadline: new Deadline(() => this.#end(pending)) }
    this.#byAttempt.set(reported.attemptId, pending)
  }

  /** What it came to is about to be published to the clients of these operations. */
  deliver({ attemptId }: Reported, operations: Iterable<Operation>): void {
    const pending = this.#byAttempt.get(attemptId)
    if (pending === undefined) return
    pending.waiting = new Set([...operations].filter(({ clients }) => clients > 0))
    for (const operation of pending.waiting) this.#byOperation.set(operation, pending)
    if (pending.waiting.size === 0) this.#end(pending)
    else this.#machine.deadlines.set(pending.deadline, this.#machine.nowMs + AT_MOST_MS)
  }

  /** Its clients have the outcome, or are gone. */
  released(operation: Operation): void {
    const pending = this.#byOperation.get(operation)
    if (pending === undefined) return
    this.#byOperation.delete(operation)
    pending.waiting.delete(operation)
    if (pending.waiting.size === 0) this.#end(pending)
  }

  #end(pending: Pending): void {
    const { workerId, attemptId, waiting, deadline } = pending
    this.#byAttempt.delete(attemptId)
    for (const operation of waiting) this.#byOperation.delete(operation)
    this.#machine.deadlines.clear(deadline)
    this.#machine.emit({ kind: 'acknowledge', workerId, attemptId })
  }
}
