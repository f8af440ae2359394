import { randomUUID } from 'node:crypto'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf } from '../../../../base/errno.js'
import type { FolderSyncs } from './folder-syncs.js'

/**
 * Moves a finished temporary file to its path. With `syncs` the name then survives a power loss. A folder is created
 * with its first blob, because checking for it beforehand would cost every start and every write.
 */
export const placeFile = async (path: string, tempPath: string, syncs: FolderSyncs | undefined): Promise<void> => {
  const folder = dirname(path)
  try {
    await rename(tempPath, path)
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') return placeFileOverDirectory(path, tempPath, syncs)
    if (errnoOf(error) !== 'ENOENT') throw error
    await mkdir(folder, { recursive: true })
    await rename(tempPath, path)
    await syncs?.sync(dirname(dirname(folder)))
    await syncs?.sync(dirname(folder))
  }
  await syncs?.sync(folder)
}

/** Handles a directory at the path of a blob: renames it to a name that no blob has, and keeps its content. */
const placeFileOverDirectory = async (
  path: string,
  tempPath: string,
  syncs: FolderSyncs | undefined,
): Promise<void> => {
  await rename(path, `${path}.directory-${randomUUID()}`)
  await placeFile(path, tempPath, syncs)
}
