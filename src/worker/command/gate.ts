import { closeSync, writeSync } from 'node:fs'
import { StatusError } from '../../base/status-error.js'
import type { Libc } from './libc.js'

/** `O_CLOEXEC` of Linux: only the program that is given an end gets it. */
const CLOSE_ON_EXEC = 0o2000000

/** A pipe that a program reads before it begins its work. */
export class Gate {
  /** The descriptor that the program gets. */
  readonly fd: number
  readonly #opener: number
  #isClosed = false

  private constructor(fd: number, opener: number) {
    this.fd = fd
    this.#opener = opener
  }

  /** UNAVAILABLE if the process has no descriptors left. */
  static make(libc: Libc): Gate {
    const ends = Buffer.alloc(8)
    if (libc.pipe(ends, CLOSE_ON_EXEC) !== 0) {
      throw new StatusError('UNAVAILABLE', 'no pipe could be made on this worker: it may have too few descriptors')
    }
    return new Gate(ends.readInt32LE(), ends.readInt32LE(4))
  }

  open(): void {
    writeSync(this.#opener, '.')
  }

  /** Frees both ends, after the program has been started. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.fd)
    closeSync(this.#opener)
  }
}
