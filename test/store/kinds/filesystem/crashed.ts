import { copyFile, link, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A checkpoint may be finished, and a segment deleted, while the folder is copied. */
const unlessGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error
}

/**
 * Copies the folder of a store to where kill -9 would leave it now: blob files are linked, and files that the store writes
 * in place are copied.
 */
export const crashed = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await crashed(source, target)
    else if (entry.name.startsWith('index') || from.endsWith('records') || from.includes('/packs'))
      await copyFile(source, target).catch(unlessGone)
    else if (entry.isFile()) await link(source, target).catch(unlessGone)
  }
}
