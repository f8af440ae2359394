import type { Test } from 'tap'
import { storeSuite } from '../../suite.js'
import { openChurned } from './churned.js'
import { type OpenFilesystem, openFilesystem } from './open.js'
import { openUsedByThread } from './used-by-thread.js'

export const kinds: Record<string, (folder: string, isBrief: boolean) => Promise<OpenFilesystem>> = {
  'filesystem, small blobs as records': (folder) => openFilesystem(folder),
  'filesystem, every blob a file': (folder) => openFilesystem(folder, { small_blob_size: 0 }),
  'filesystem, synced': (folder) => openFilesystem(folder, { durability: 'power_loss' }),
  'filesystem, used by a service thread': (folder) => openUsedByThread(folder),
  'filesystem, every blob a file, used by a service thread': (folder) =>
    openUsedByThread(folder, { small_blob_size: 0 }),
  // More blobs than one test of the suite uploads, with the blobs that evict others.
  'filesystem, full and being cleaned': (folder, isBrief) => openChurned(folder, isBrief ? 700 : 2000),
}

/** The suite over each kind of file store, in full for those in `inFull`. */
export const filesystemSuites = (t: Test, inFull: readonly string[]): void => {
  for (const [name, open] of Object.entries(kinds))
    storeSuite(t, {
      name,
      isPersistent: true,
      isBrief: !inFull.includes(name),
      open: async (t) => {
        const folder = t.testdir()
        const first = await open(folder, !inFull.includes(name))
        let current = first
        return {
          store: first.store,
          close: () => current.close(),
          leftovers: () => first.tempFiles(),
          reopen: async () => {
            await first.close()
            current = await open(folder, !inFull.includes(name))
            return current
          },
        }
      },
    })
}
