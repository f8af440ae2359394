import type { Readable } from 'node:stream'
import type { ReadPath } from '../path.js'
import type { BlobFile } from './file.js'

export type FailureListener = (error: unknown) => void

interface Listener {
  readonly listener: FailureListener
  /** Number of stages when the listener was added. It is told about failures of those stages and of the source. */
  readonly stageCount: number
}

/**
 * Listeners for failures after a blob was handed out. Each listener is told about failures of the source and
 * of the stages before it. If the sink fails or the caller leaves, the streams end with that error and all
 * listeners are told.
 */
export class Failures {
  readonly #listeners: readonly Listener[]
  #reported: unknown

  constructor(listeners: readonly Listener[]) {
    this.#listeners = listeners
  }

  /** Whether there is a listener. */
  get areHeard(): boolean {
    return this.#listeners.length > 0
  }

  withListener(listener: FailureListener, stageCount: number): Failures {
    return new Failures([...this.#listeners, { listener: listener, stageCount }])
  }

  /** Reports a failure of the stage at this position; -1 is the source. */
  met(error: unknown, position: number): void {
    for (const { listener, stageCount } of this.#listeners) if (position < stageCount) listener(error)
  }

  /**
   * Watches streams; the last `stageCount` are the stages from position `first` on. Only the first error is
   * reported, because it destroys the other streams.
   */
  ofPath(path: ReadPath, stageCount: number, first = 0): ReadPath {
    if (this.#listeners.length === 0) return path
    const sourceCount = path.length - stageCount
    let isMet = false
    path.forEach((stream: Readable, at) => {
      stream.on('error', (error) => {
        if (isMet) return
        isMet = true
        this.met(error, at < sourceCount ? -1 : first + at - sourceCount)
      })
    })
    return path
  }

  /**
   * Watches a file at the position of its stage. An error that was already reported further down is not
   * reported again.
   */
  ofFile(file: BlobFile, position: number): BlobFile {
    if (this.#listeners.length === 0) return file
    return new HeardFile(file, (error) => {
      if (error === this.#reported) return
      this.#reported = error
      this.met(error, position)
    })
  }
}

export const NOBODY = new Failures([])

class HeardFile implements BlobFile {
  readonly #file: BlobFile
  readonly #listener: FailureListener

  constructor(file: BlobFile, listener: FailureListener) {
    this.#file = file
    this.#listener = listener
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes
  }

  get bufferBytes(): number {
    return this.#file.bufferBytes
  }

  async read(into: Buffer, position: number): Promise<number> {
    try {
      return await this.#file.read(into, position)
    } catch (error) {
      this.#listener(error)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
