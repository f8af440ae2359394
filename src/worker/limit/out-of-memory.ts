import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.js'

const PERIOD_MS = 1000

/** Tells whether the system has ended processes of this machine for want of memory of late. */
export class OutOfMemory {
  readonly #read: () => number
  readonly #stop: () => void
  /** As it was two looks ago, and one: a command may take as long as one to end behind the process that was killed. */
  #before: number
  #last: number

  /** `read` answers how many were ended so since the machine was started. */
  constructor(clock: Clock, read: () => number = killsSoFar) {
    this.#read = read
    this.#last = read()
    this.#before = this.#last
    this.#stop = clock.every(PERIOD_MS, () => {
      this.#before = this.#last
      this.#last = read()
    })
  }

  /** Within the last second or two. */
  hasStruck(): boolean {
    return this.#read() > this.#before
  }

  close(): void {
    this.#stop()
  }
}

/** Linux counts them, those of control groups too; elsewhere there are none to be known of. */
export const killsSoFar = (): number => {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
