import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.js'

const PERIOD_MS = 1000

/** Detects whether the kernel has recently killed processes of this machine for lack of memory. */
export class OutOfMemory {
  readonly #read: () => number
  readonly #stop: () => void
  /** The counts of the last two periods. A command may end up to one period after its process was killed. */
  #before: number
  #last: number

  /** `read` returns the number of such kills since boot. */
  constructor(clock: Clock, read: () => number = killsSoFar) {
    this.#read = read
    this.#last = read()
    this.#before = this.#last
    this.#stop = clock.every(PERIOD_MS, () => {
      this.#before = this.#last
      this.#last = read()
    })
  }

  /** Whether there was such a kill in the last one to two seconds. */
  hasStruck(): boolean {
    return this.#read() > this.#before
  }

  close(): void {
    this.#stop()
  }
}

/** The count of Linux, including kills in control groups. 0 on other systems. */
export const killsSoFar = (): number => {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
