import { Writable } from 'node:stream'
import { StatusError } from '../base/status-error.js'
import { Branch } from './branch.js'
import { STAGE_BYTES, type WritePath } from './path.js'

export interface TeeBranches {
  /** One failing fails the write and destroys every branch. */
  readonly required: readonly WritePath[]
  /** One failing is dropped; the write goes on. */
  readonly optional: readonly WritePath[]
  /** Run once all required and the remaining optional branches committed, with why others did not, before `finish`. */
  afterCommit?(dropped: readonly StatusError[]): Promise<void>
}

/**
 * One write into several paths; the slowest live branch paces the source. Optional branches end only after the required
 * ones committed, so that a cache never claims what the authority refused. Chunks are shared, not copied.
 */
export class Tee extends Writable {
  readonly #required: readonly Branch[]
  readonly #optional: readonly Branch[]
  readonly #all: readonly Branch[]
  readonly #afterCommit: TeeBranches['afterCommit']

  constructor({ required, optional, afterCommit }: TeeBranches) {
    super({ highWaterMark: STAGE_BYTES })
    this.#required = required.map((path) => new Branch(path))
    this.#optional = optional.map((path) => new Branch(path))
    this.#all = [...this.#required, ...this.#optional]
    this.#afterCommit = afterCommit
    for (const branch of this.#required) {
      void branch.outcome.then((error) => error !== undefined && this.destroy(error))
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
    this.#commit().then(
      () => callback(),
      (error: unknown) => callback(StatusError.from(error)),
    )
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    for (const branch of this.#all) branch.destroy(error ?? undefined)
    void Promise.all(this.#all.map((branch) => branch.outcome)).then(() => callback(error))
  }

  async #commit(): Promise<void> {
    const [failure] = await finish(this.#required)
    if (failure !== undefined) throw failure
    const dropped = await finish(this.#optional)
    await this.#afterCommit?.(dropped)
  }
}

/** Ends the branches; answers why those failed that did. */
const finish = async (branches: readonly Branch[]): Promise<StatusError[]> => {
  for (const branch of branches) branch.end()
  const outcomes = await Promise.all(branches.map((branch) => branch.outcome))
  return outcomes.filter((outcome) => outcome !== undefined)
}
