import { unlink } from 'node:fs/promises'
import type { Log } from '../../base/log.js'
import { errnoOf } from './file-error.js'

/**
 * Deletes files the index has forgotten. Who creates a file of that name again waits for the deletion first: it could
 * otherwise hit the new file.
 */
export class Unlinker {
  readonly #log: Log
  readonly #pending = new Map<string, Promise<void>>()
  /** While set, every path deleted: a directory listing under way may still show it. */
  #recorded: Set<string> | undefined

  constructor(log: Log) {
    this.#log = log
  }

  unlink(path: string): Promise<void> {
    const pending = this.#pending.get(path)
    if (pending !== undefined) return pending
    this.#recorded?.add(path)
    const work = this.#unlink(path).finally(() => this.#pending.delete(path))
    this.#pending.set(path, work)
    return work
  }

  /** Settles when no deletion of that path is under way. */
  async settled(path: string): Promise<void> {
    for (let work = this.#pending.get(path); work !== undefined; work = this.#pending.get(path)) await work
  }

  isPending(path: string): boolean {
    return this.#pending.has(path)
  }

  record(isOn: boolean): void {
    this.#recorded = isOn ? new Set() : undefined
  }

  wasUnlinked(path: string): boolean {
    return this.#recorded?.has(path) ?? false
  }

  async idle(): Promise<void> {
    await Promise.all(this.#pending.values())
  }

  /** A file that cannot be deleted stays behind unseen until the next scan finds it; that is the operator's to know. */
  async #unlink(path: string): Promise<void> {
    try {
      await unlink(path)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') this.#log.warn('could not delete a file of the store', { path, error })
    }
  }
}
