import { Writable } from 'node:stream'
import type { StatusError } from '../base/status-error.js'
import { Branch } from './branch.js'
import { STAGE_BYTES, type WritePath } from './path.js'

export interface TeeBranches {
  /** One failing fails the write and destroys every branch. */
  readonly required: readonly WritePath[]
  /** One failing is dropped and told to `onDropped`; the write goes on. */
  readonly optional: readonly WritePath[]
  onDropped(error: StatusError): void
}

/**
 * One write into several paths; the slowest live branch paces the source. Optional branches end only after the required
 * ones committed, so that a cache never claims what the authority refused. Chunks are shared, not copied.
 */
export class Tee extends Writable {
  readonly #required: readonly Branch[]
  readonly #optional: readonly Branch[]
  readonly #all: readonly Branch[]

  constructor({ required, optional, onDropped }: TeeBranches) {
    super({ highWaterMark: STAGE_BYTES })
    this.#required = required.map((path) => new Branch(path))
    this.#optional = optional.map((path) => new Branch(path))
    this.#all = [...this.#required, ...this.#optional]
    for (const branch of this.#required) {
      void branch.outcome.then((error) => error !== undefined && this.destroy(error))
    }
    for (const branch of this.#optional) {
      void branch.outcome.then((error) => error !== undefined && !this.destroyed && onDropped(error))
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    let waiting = 1
    const ready = (): void => {
      waiting -= 1
      if (waiting === 0) callback()
    }
    for (const branch of this.#all) {
      if (branch.write(chunk)) continue
      waiting += 1
      branch.onReady(ready)
    }
    ready()
  }

  override _final(callback: (error?: Error) => void): void {
    const commit = async (): Promise<StatusError | undefined> => {
      const failure = await finish(this.#required)
      if (failure === undefined) await finish(this.#optional)
      return failure
    }
    void commit().then(callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    for (const branch of this.#all) branch.destroy(error ?? undefined)
    void Promise.all(this.#all.map((branch) => branch.outcome)).then(() => callback(error))
  }
}

const finish = async (branches: readonly Branch[]): Promise<StatusError | undefined> => {
  for (const branch of branches) branch.end()
  const outcomes = await Promise.all(branches.map((branch) => branch.outcome))
  return outcomes.find((outcome) => outcome !== undefined)
}
