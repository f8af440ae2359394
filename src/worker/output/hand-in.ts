import { constants } from 'node:fs'
import { chmod, copyFile, lstat, open, rename, stat, unlink } from 'node:fs/promises'
import type { Call } from '../../base/call.js'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { BlobFiles, ReservedPlace } from '../../store/store.js'
import { startsSoFar } from '../command/starts.js'
import type { HashedFile } from './file.js'

const READ_ONLY = 0o444

/**
 * Makes an output file a file of the store: it is moved there, or copied where it has other names or lies on another file
 * system. INVALID_ARGUMENT when it is not any more as it was when it was hashed.
 */
export const handIn = async (digest: Digest, file: HashedFile, files: BlobFiles, call: Call): Promise<void> => {
  const place = await files.reserve(call)
  try {
    const isCopy = await bring(file, place)
    await chmod(place.path, READ_ONLY)
    if (place.isSynced) await synced(place.path)
    const { size, mtimeMs } = await lstat(place.path)
    if (size !== file.sizeBytes || (!isCopy && mtimeMs !== file.mtimeMs)) throw changed()
    await files.adopt(digest, { path: place.path, sizeBytes: size, checksum: file.checksum, mtimeMs }, call)
  } catch (error) {
    await unlink(place.path).catch(() => {})
    throw error
  }
}

/** Answers whether it had to be copied. */
const bring = async (file: HashedFile, { path }: ReservedPlace): Promise<boolean> => {
  const { nlink } = await unchanged(file)
  if (nlink === 1) {
    try {
      await rename(file.path, path)
      return false
    } catch (error) {
      // Another file system, or a folder that the command left without the right to write.
      if (!['EXDEV', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) throw error
    }
  }
  await copyFile(file.path, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  // Other workers of the store may execute it, which know nothing of what is started here.
  await startsSoFar()
  await unchanged(file)
  return true
}

const unchanged = async ({ path, sizeBytes, mtimeMs, inode }: HashedFile): Promise<{ readonly nlink: number }> => {
  // What a command printed has no name: its path is a link of /proc.
  const stats = await (path.startsWith('/proc/self/fd/') && !path.slice(14).includes('/') ? stat(path) : lstat(path))
  const isSame = stats.isFile() && stats.ino === inode && stats.size === sizeBytes && stats.mtimeMs === mtimeMs
  if (!isSame) throw changed()
  return stats
}

const changed = (): StatusError => new StatusError('INVALID_ARGUMENT', 'the file changed after it was hashed')

const synced = async (path: string): Promise<void> => {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
