import type { Test } from 'tap'
import { storeSuite } from '../../suite.js'
import { openChurned } from './churned.js'
import { type OpenFilesystem, openFilesystem } from './open.js'
import { openUsedByThread } from './used-by-thread.js'

/** Test files that the suites are spread over. */
const PARTS = 3

const kinds: Record<string, (folder: string, isBrief: boolean) => Promise<OpenFilesystem>> = {
  'filesystem, small blobs as records': (folder) => openFilesystem(folder),
  'filesystem, every blob a file': (folder) => openFilesystem(folder, { small_blob_size: 0 }),
  'filesystem, synced': (folder) => openFilesystem(folder, { durability: 'power_loss' }),
  'filesystem, used by a service thread': (folder) => openUsedByThread(folder),
  'filesystem, every blob a file, used by a service thread': (folder) =>
    openUsedByThread(folder, { small_blob_size: 0 }),
  // More blobs than one test of the suite uploads, with the blobs that evict others.
  'filesystem, full and being cleaned': (folder, isBrief) => openChurned(folder, isBrief ? 700 : 2000),
}

/** The suite over file stores: over all of them in full, or over every part-th of `PARTS`, and in full over the first kind only. */
export const filesystemSuites = (t: Test, part?: number): void => {
  for (const [at, [name, open]] of Object.entries(kinds).entries()) {
    if (part !== undefined && at % PARTS !== part) continue
    const isBrief = part !== undefined && at > 0
    storeSuite(t, {
      name,
      isPersistent: true,
      isBrief,
      open: async (t) => {
        const folder = t.testdir()
        const first = await open(folder, isBrief)
        let current = first
        return {
          store: first.store,
          close: () => current.close(),
          leftovers: () => first.tempFiles(),
          reopen: async () => {
            await first.close()
            current = await open(folder, isBrief)
            return current
          },
        }
      },
    })
  }
}
