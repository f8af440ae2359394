import { unlink } from 'node:fs/promises'
import { errnoOf } from '../../../../base/errno.js'
import type { Log } from '../../../../log/log.js'

/**
 * Deletes files that the index has dropped. Before a file of the same name is created, its deletion must have settled,
 * because it could delete the new file.
 */
export class Unlinker {
  readonly #log: Log
  readonly #pending = new Map<string, Promise<void>>()
  #failureCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Deletions that failed since the start. */
  get failureCount(): number {
    return this.#failureCount
  }

  /** Deletes a file after `after` has settled. */
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

  /** Resolves when no deletion of that path is in flight. */
  async settled(path: string): Promise<void> {
    for (let work = this.#pending.get(path); work !== undefined; work = this.#pending.get(path)) await work
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending.values())
  }

  /** A file that cannot be deleted is logged for the operator. It stays, unused, until the next patrol finds it. */
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

/** Whether an error says that the file does not exist: it, its folder, or a parent that is not a folder. */
export const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')
