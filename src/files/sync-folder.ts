import { open } from 'node:fs/promises'

/** Resolves once the names in a folder are on disk: those of new files, and of removed ones. */
export const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
