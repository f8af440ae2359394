import { open, unlink } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf } from './file-error.js'
import type { FolderSyncs } from './folder-syncs.js'
import { FILE_MODE, OpenFile } from './open-file.js'

/**
 * Moves a finished temporary file to its place; with `syncs` its name survives a power loss from then on. Folders come
 * into being with their first blob: looking for them beforehand would cost every start and every write.
 */
export const placeFile = async (path: string, tempPath: string, syncs: FolderSyncs | undefined): Promise<void> => {
  const folder = dirname(path)
  try {
    await rename(tempPath, path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    await mkdir(folder, { recursive: true })
    await rename(tempPath, path)
    await syncs?.sync(dirname(dirname(folder)))
    await syncs?.sync(dirname(folder))
  }
  await syncs?.sync(folder)
}

/** Writes a whole file in its place by way of a temporary one; answers its modification time. Rejected, it leaves nothing. */
export const writeFileInPlace = async (
  { tempPath, path, bytes }: { readonly tempPath: string; readonly path: string; readonly bytes: Buffer },
  syncs: FolderSyncs | undefined,
): Promise<number> => {
  const file = await create(tempPath)
  try {
    let mtimeMs: number
    try {
      await settled((done) => file.append([bytes], done))
      mtimeMs = file.stat().mtimeMs
      if (syncs !== undefined) await settled((done) => file.sync(done))
    } finally {
      await settled((done) => file.close(done))
    }
    await placeFile(path, tempPath, syncs)
    return mtimeMs
  } catch (error) {
    await new Promise<void>((resolve) => unlink(tempPath, () => resolve()))
    throw error
  }
}

const create = (path: string): Promise<OpenFile> =>
  new Promise((resolve, reject) => {
    open(path, 'wx', FILE_MODE, (error, fd) => (error === null ? resolve(new OpenFile(fd)) : reject(error)))
  })

const settled = (start: (done: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => start((error) => (error === null ? resolve() : reject(error))))
