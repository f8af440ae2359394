import { guardedImmediate } from '../base/timers.js'

/**
 * Spreads work over turns of the event loop: at most `most` pieces begin in a turn, and the others in later turns, in
 * order. For work whose first steps are expensive and arrive in bursts, because one read of a socket may bring hundreds.
 */
export class PerTurn {
  readonly #most: number
  readonly #waiting = new Set<() => void>()
  #begun = 0
  #isCounting = false

  constructor(most: number) {
    this.#most = most
  }

  /** Whether a piece may begin at once. If so, it counts. */
  take(): boolean {
    if (this.#waiting.size > 0 || this.#begun >= this.#most) return false
    this.#begun++
    this.#count()
    return true
  }

  /** Calls `begin` in a later turn. */
  wait(begin: () => void): void {
    this.#waiting.add(begin)
    this.#count()
  }

  /** Drops a piece that waits. */
  forget(begin: () => void): void {
    this.#waiting.delete(begin)
  }

  #count(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    guardedImmediate(this.#nextTurn)
  }

  readonly #nextTurn = (): void => {
    this.#isCounting = false
    this.#begun = 0
    try {
      for (const begin of this.#waiting) {
        if (this.#begun >= this.#most) break
        this.#waiting.delete(begin)
        this.#begun++
        begin()
      }
    } finally {
      // Also after one that throws: the others begin in the next turn.
      if (this.#begun > 0 || this.#waiting.size > 0) this.#count()
    }
  }
}
