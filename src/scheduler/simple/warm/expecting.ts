import type { Execution, Worker } from '../state/state.js'

/**
 * Waiting executions that only workers take which hold something warm for them, for a moment. By key, so that a worker finds its
 * own without looking at the others.
 */
export class Expecting {
  readonly #byKey = new Map<string, Set<Execution>>()

  add(execution: Execution): void {
    for (const key of execution.warmKeys) {
      const waiting = this.#byKey.get(key) ?? new Set()
      this.#byKey.set(key, waiting.add(execution))
    }
  }

  remove(execution: Execution): void {
    for (const key of execution.warmKeys) {
      const waiting = this.#byKey.get(key)
      waiting?.delete(execution)
      if (waiting?.size === 0) this.#byKey.delete(key)
    }
  }

  /** Those for which the worker holds something. */
  of({ warm }: Worker): readonly Execution[] {
    if (this.#byKey.size === 0) return NONE
    const found = new Set<Execution>()
    for (const [key, waiting] of this.#byKey) if (warm.has(key)) for (const execution of waiting) found.add(execution)
    return [...found]
  }
}

const NONE: readonly Execution[] = []
