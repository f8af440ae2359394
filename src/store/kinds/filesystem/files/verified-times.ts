/** The time of a file that was not verified since the start. */
const UNKNOWN = Number.NaN

/**
 * For each file, by index slot: the modification time at which its bytes were last known to be intact, because they
 * were written or verified. Not persistent: after a restart every file is verified again.
 */
export class VerifiedTimes {
  #mtimesMs = new Float64Array(0)

  set(slot: number, mtimeMs: number): void {
    if (slot >= this.#mtimesMs.length) {
      const larger = new Float64Array(2 * slot + 1024).fill(UNKNOWN)
      larger.set(this.#mtimesMs)
      this.#mtimesMs = larger
    }
    this.#mtimesMs[slot] = Math.round(mtimeMs)
  }

  clear(slot: number): void {
    if (slot < this.#mtimesMs.length) this.#mtimesMs[slot] = UNKNOWN
  }

  /** Whether a file with this modification time is unchanged since then. */
  isUnchanged(slot: number, mtimeMs: number): boolean {
    return this.#mtimesMs[slot] === Math.round(mtimeMs)
  }

  /** Whether the modification time of a file has changed since then: a process wrote to it or touched it. */
  hasChanged(slot: number, mtimeMs: number): boolean {
    return !Number.isNaN(this.#mtimesMs[slot] ?? UNKNOWN) && !this.isUnchanged(slot, mtimeMs)
  }
}
