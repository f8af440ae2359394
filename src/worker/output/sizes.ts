import type { Stats } from 'node:fs'
import { StatusError } from '../../base/status-error.js'

export interface SizeLimits {
  /** Total size of all files made by the action; 0 for no limit. */
  readonly diskBytes: number
  /** Maximum size of a blob in the store. */
  readonly maxBlobBytes: () => Promise<number>
}

/** Every store accepts files up to this size, so it is asked only about larger ones. */
const ASKED_BYTES = 16 * 1024 * 1024

/**
 * Checks the sizes of output files against limits before their bytes are read. A sparse file may be long without using
 * disk space, but the store would write all of it.
 */
export class OutputSizes {
  readonly #limits: SizeLimits
  #bytes = 0
  #isExceeded = false

  constructor(limits: SizeLimits) {
    this.#limits = limits
  }

  /** Whether an output was refused. Other workers would refuse it too. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Rejects with RESOURCE_EXHAUSTED if the outputs so far, or this file, are too large. */
  async admit({ size, nlink }: Pick<Stats, 'size' | 'nlink'>): Promise<void> {
    const { diskBytes, maxBlobBytes } = this.#limits
    // A file with several names is an input.
    if (nlink === 1) this.#bytes += size
    if (diskBytes > 0 && this.#bytes > diskBytes) this.#refuse(`the outputs have more than ${diskBytes} bytes`)
    if (size <= ASKED_BYTES) return
    const maxBytes = await maxBlobBytes()
    if (size > maxBytes) this.#refuse(`the file has ${size} bytes, the store takes at most ${maxBytes}`)
  }

  #refuse(message: string): never {
    this.#isExceeded = true
    throw new StatusError('RESOURCE_EXHAUSTED', message)
  }
}
