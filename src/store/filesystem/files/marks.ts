/** Of a file whose bytes nobody has compared since the start. */
const UNKNOWN = Number.NaN

/**
 * For each file, by its slot in the index, the modification time at which its bytes were last known to be right: written, or
 * compared with their checksum. Not kept across restarts, after which every file is compared again.
 */
export class Marks {
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

  /** Whether a file with that modification time is still as it was then. */
  vouchesFor(slot: number, mtimeMs: number): boolean {
    return this.#mtimesMs[slot] === Math.round(mtimeMs)
  }

  /** Whether a file's time has changed since: somebody wrote to it, or touched it. */
  suspects(slot: number, mtimeMs: number): boolean {
    return !Number.isNaN(this.#mtimesMs[slot] ?? UNKNOWN) && !this.vouchesFor(slot, mtimeMs)
  }
}
