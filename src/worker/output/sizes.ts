import type { Stats } from 'node:fs'
import { StatusError } from '../../base/status-error.js'

export interface SizeLimits {
  /** Of all files that an action made, added up; 0 means no limit. */
  readonly diskBytes: number
  /** Length of the largest blob that the store takes. */
  readonly maxBlobBytes: () => Promise<number>
}

/** Every store takes a file of this length, so it is not asked about smaller ones. */
const ASKED_BYTES = 16 * 1024 * 1024

/**
 * Compares the lengths of output files with the limits before their bytes are read. A sparse file is long although it takes
 * no room on the disk, and the store would write all of it.
 */
export class OutputSizes {
  readonly #limits: SizeLimits
  #bytes = 0
  #isExceeded = false

  constructor(limits: SizeLimits) {
    this.#limits = limits
  }

  /** Whether an output was refused: no other worker would take it. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Rejects with RESOURCE_EXHAUSTED when the outputs so far, or this file alone, are too long. */
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
