import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from './file-error.js'
import type { Layout } from './layout.js'

/**
 * Which files are being written under the name they are found by. A file that is moved there when it is whole needs no such
 * note, but moving it is a third of what a small file costs; so the threads write new ones in place, and note the names of
 * a batch, before its first file, in one write over those of the batch before. A process that was killed leaves at most
 * the files of its last batches torn, and the next start finds them here. After a power loss every file's length is looked at.
 */
export const placingsPath = (layout: Layout, number: number): string => join(layout.contentPath, `${PREFIX}${number}`)

/** Deletes what an earlier run did not write to its end, before anybody believes a name. */
export const deleteTorn = async (layout: Layout): Promise<void> => {
  for (const name of await readdir(layout.contentPath)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(layout.contentPath, name)
    // A note that itself was cut short ends amid a name, or goes on with the names of an earlier batch.
    for (const line of (await readFile(path, 'latin1')).split('\n')) await deleteIfTorn(layout, line)
    await unlink(path)
  }
}

const PREFIX = 'placing-'

const deleteIfTorn = async (layout: Layout, name: string): Promise<void> => {
  const blob = layout.parse(dirname(name), basename(name))
  if (blob === undefined) return
  const path = layout.pathOf(name)
  try {
    if ((await stat(path)).size !== blob.storedBytes) await unlink(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
