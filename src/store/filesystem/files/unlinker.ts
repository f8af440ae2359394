import { unlink } from 'node:fs/promises'
import { errnoOf } from '../../../base/errno.js'
import type { Log } from '../../../base/log.js'

/**
 * Deletes files the index has forgotten. Who creates a file of that name again waits for the deletion first: it could
 * otherwise hit the new file.
 */
export class Unlinker {
  readonly #log: Log
  readonly #pending = new Map<string, Promise<void>>()
  #failureCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Files that could not be deleted, since the start. */
  get failureCount(): number {
    return this.#failureCount
  }

  /** Once `after` is over, however that ends. */
  unlink(path: string, after?: Promise<unknown>): Promise<void> {
    const pending = this.#pending.get(path)
    if (pending !== undefined) return pending
    const work = (after ?? Promise.resolve())
      .then(
        () => this.#unlink(path),
        () => this.#unlink(path),
      )
      .finally(() => this.#pending.delete(path))
    this.#pending.set(path, work)
    return work
  }

  /** Settles when no deletion of that path is under way. */
  async settled(path: string): Promise<void> {
    for (let work = this.#pending.get(path); work !== undefined; work = this.#pending.get(path)) await work
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending.values())
  }

  /** A file that cannot be deleted stays behind unseen until the next round finds it; that is the operator's to know. */
  async #unlink(path: string): Promise<void> {
    try {
      await unlink(path)
    } catch (error) {
      if (isGone(error)) return
      this.#failureCount += 1
      this.#log.warn('could not delete a file of the store', { path, error })
    }
  }
}

/** Whether an error says that there is no such file: not even its folder, or what lies in the folder's place is none. */
export const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')
