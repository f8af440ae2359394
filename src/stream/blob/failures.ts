import type { Readable } from 'node:stream'
import type { ReadPath } from '../path.js'
import type { BlobFile } from './file.js'

export type FailureListener = (error: unknown) => void

interface Listener {
  readonly tell: FailureListener
  /** How many stages there were when it began to listen: it hears of those, and of the source. */
  readonly stageCount: number
}

/**
 * Who wants to know that a blob failed after it was handed out. Each hears of what is below its place. Where the sink of
 * a transfer fails, or its caller leaves, the streams end with that error and everybody is told it.
 */
export class Failures {
  readonly #listeners: readonly Listener[]
  #told: unknown

  constructor(listeners: readonly Listener[]) {
    this.#listeners = listeners
  }

  /** Somebody listens. */
  get areHeard(): boolean {
    return this.#listeners.length > 0
  }

  heardBy(tell: FailureListener, stageCount: number): Failures {
    return new Failures([...this.#listeners, { tell, stageCount }])
  }

  /** The stage at this position failed; -1 is the source. */
  met(error: unknown, position: number): void {
    for (const { tell, stageCount } of this.#listeners) if (position < stageCount) tell(error)
  }

  /** Streams whose last ones are the stages from position `first` on. The first that fails counts: it takes the others along. */
  ofPath(path: ReadPath, stageCount: number, first = 0): ReadPath {
    if (this.#listeners.length === 0) return path
    const sourceCount = path.length - stageCount
    let isMet = false
    path.forEach((stream: Readable, at) => {
      stream.once('error', (error) => {
        if (isMet) return
        isMet = true
        this.met(error, at < sourceCount ? -1 : first + at - sourceCount)
      })
    })
    return path
  }

  /** A file as the stage at this position gives it; of one that failed below that has been told. */
  ofFile(file: BlobFile, position: number): BlobFile {
    if (this.#listeners.length === 0) return file
    return new HeardFile(file, (error) => {
      if (error === this.#told) return
      this.#told = error
      this.met(error, position)
    })
  }
}

export const NOBODY = new Failures([])

class HeardFile implements BlobFile {
  readonly #file: BlobFile
  readonly #tell: FailureListener

  constructor(file: BlobFile, tell: FailureListener) {
    this.#file = file
    this.#tell = tell
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
      this.#tell(error)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
