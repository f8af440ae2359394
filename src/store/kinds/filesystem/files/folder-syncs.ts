import { syncFolder } from '../../../../files/sync-folder.js'

interface Syncing {
  readonly now: Promise<void>
  /** The next sync, for callers that arrived after `now` began, because `now` may miss their change. */
  next: Promise<void> | undefined
}

/**
 * Syncs the names in folders to disk. Callers that arrive during a sync of a folder share the next one. Under load, one
 * sync covers many commits.
 */
export class FolderSyncs {
  readonly #syncing = new Map<string, Syncing>()

  /** Resolves when every name that was in the folder at the time of the call will survive a power loss. */
  sync(folder: string): Promise<void> {
    const syncing = this.#syncing.get(folder)
    if (syncing === undefined) return this.#start(folder)
    syncing.next ??= syncing.now.then(
      () => this.#start(folder),
      () => this.#start(folder),
    )
    return syncing.next
  }

  #start(folder: string): Promise<void> {
    const now = syncFolder(folder)
    const syncing: Syncing = { now, next: undefined }
    this.#syncing.set(folder, syncing)
    const end = (): void => {
      if (syncing.next === undefined) this.#syncing.delete(folder)
    }
    now.then(end, end)
    return now
  }
}
