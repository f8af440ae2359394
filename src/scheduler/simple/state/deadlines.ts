import { Heap } from './heap.js'

/** Calls `onDue` once at `dueMs`, unless it is set again or cleared before. */
export class Deadline {
  heapIndex = -1
  dueMs = 0
  onDue: () => void

  constructor(onDue: () => void = () => {}) {
    this.onDue = onDue
  }
}

/**
 * The deadlines of a state machine. Setting and clearing cost O(log n); passing time costs only the due
 * deadlines.
 */
export class Deadlines {
  readonly #heap = new Heap<Deadline>((a, b) => a.dueMs < b.dueMs)

  get size(): number {
    return this.#heap.size
  }

  set(deadline: Deadline, dueMs: number): void {
    this.clear(deadline)
    deadline.dueMs = dueMs
    this.#heap.add(deadline)
  }

  clear(deadline: Deadline): void {
    if (deadline.heapIndex >= 0) this.#heap.remove(deadline)
  }

  /**
   * Runs due deadlines, earliest first. A callback that sets its deadline again must choose a time after
   * `nowMs`.
   */
  expire(nowMs: number): void {
    for (let first = this.#heap.first; first !== undefined && first.dueMs <= nowMs; first = this.#heap.first) {
      this.#heap.remove(first)
      first.onDue()
    }
  }
}
