import { randomUUID } from 'node:crypto'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf } from '../../../base/errno.js'
import type { FolderSyncs } from './folder-syncs.js'

/**
 * Moves a finished temporary file to its place; with `syncs` its name survives a power loss from then on. Folders come
 * into being with their first blob: looking for them beforehand would cost every start and every write.
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

/** Somebody made a directory where the file belongs. It keeps all that is in it, under a name that is not one of a blob. */
const placeFileOverDirectory = async (
  path: string,
  tempPath: string,
  syncs: FolderSyncs | undefined,
): Promise<void> => {
  await rename(path, `${path}.directory-${randomUUID()}`)
  await placeFile(path, tempPath, syncs)
}
