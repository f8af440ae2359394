import { open } from 'node:fs/promises'

interface Syncing {
  readonly now: Promise<void>
  /** For those who asked after `now` began, which may miss what they changed. */
  next: Promise<void> | undefined
}

/**
 * Brings the names in folders onto the disk. Whoever asks for a folder while it is being synced shares the sync after
 * that with all others who do: under load one sync stands for many commits.
 */
export class FolderSyncs {
  readonly #syncing = new Map<string, Syncing>()

  /** Resolves once every name that was in the folder when this was called will be there after a power loss. */
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

export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
