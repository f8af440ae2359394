import type { Execution, Worker } from '../state/state.js'
import { warmthOf } from './holders.js'
import { worthAWait } from './keys.js'

/**
 * Waiting executions that for a moment only workers take which are warmer for them than those that had room. By key, so that a
 * worker finds its own without looking at the others.
 */
export class Expecting {
  readonly #byKey = new Map<string, Set<Execution>>()

  add(execution: Execution): void {
    for (const key of waitedFor(execution)) {
      const waiting = this.#byKey.get(key) ?? new Set()
      this.#byKey.set(key, waiting.add(execution))
    }
  }

  remove(execution: Execution): void {
    for (const key of waitedFor(execution)) {
      const waiting = this.#byKey.get(key)
      waiting?.delete(execution)
      if (waiting?.size === 0) this.#byKey.delete(key)
    }
  }

  /** Those for which the worker is warm enough. */
  of(worker: Worker): readonly Execution[] {
    if (this.#byKey.size === 0) return NONE
    const found = new Set<Execution>()
    for (const [key, waiting] of this.#byKey)
      if (worker.warm.has(key)) for (const execution of waiting) found.add(execution)
    return [...found].filter((execution) => isAwaited(worker, execution))
  }
}

/** Whether the worker is warmer for an execution than those that had room when it began to wait. */
export const isAwaited = (worker: Worker, { warmKeys, warmerThan }: Execution): boolean =>
  worthAWait(warmthOf(worker, warmKeys)) > warmerThan

const waitedFor = ({ warmKeys }: Execution): readonly string[] =>
  warmKeys.filter(({ worth }) => worthAWait(worth) > 0).map(({ key }) => key)

const NONE: readonly Execution[] = []
