import { constants } from 'node:fs'
import { chmod, copyFile, lstat, open, rename, stat, unlink } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { BlobFiles, ReservedFile } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { ClaimFile } from '../command/claim.js'
import { startsSoFar } from '../command/starts.js'
import type { HashedFile } from './file.js'

const READ_ONLY = 0o444

/**
 * Moves an output file into the store. Copies it instead if it has other names, is on another file system, or is open
 * elsewhere, because an escaped process could still write to it. Rejects with INVALID_ARGUMENT if the file changed
 * after it was hashed.
 */
export const handIn = async (
  digest: Digest,
  file: HashedFile,
  { files, claim }: { readonly files: BlobFiles; readonly claim: ClaimFile },
  call: Call,
): Promise<void> => {
  const reserved = await files.reserve(call)
  try {
    const isCopy = await bring(file, reserved, claim)
    await chmod(reserved.path, READ_ONLY)
    if (reserved.isSynced) await synced(reserved.path)
    const { size, mtimeMs } = await lstat(reserved.path)
    if (size !== file.sizeBytes || (!isCopy && mtimeMs !== file.mtimeMs)) throw changed()
    await files.adopt(digest, { path: reserved.path, sizeBytes: size, checksum: file.checksum, mtimeMs }, call)
  } catch (error) {
    await unlink(reserved.path).catch(() => {})
    throw error
  }
}

/** Returns whether the file was copied. */
const bring = async (file: HashedFile, { path }: ReservedFile, claim: ClaimFile): Promise<boolean> => {
  const { nlink } = await unchanged(file)
  const claimed = nlink === 1 ? claim(file.path) : 'in use'
  if (claimed !== 'in use') {
    try {
      // From here on, no process can open the file before it has its new name.
      await unchanged(file)
      await rename(file.path, path)
      return false
    } catch (error) {
      // EXDEV: another file system. EACCES, EPERM: the command made the folder read-only.
      if (!['EXDEV', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) throw error
    } finally {
      claimed?.release()
    }
  }
  await copyFile(file.path, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  // Other workers on the store may execute the file. They do not know of programs being started here.
  await startsSoFar()
  await unchanged(file)
  return true
}

const unchanged = async ({
  path,
  sizeBytes,
  mtimeMs,
  ctimeMs,
  inode,
}: HashedFile): Promise<{ readonly nlink: number }> => {
  // Printed output has no name: its path is a symlink in /proc.
  const stats = await (path.startsWith('/proc/self/fd/') && !path.slice(14).includes('/') ? stat(path) : lstat(path))
  const isWritten = stats.size !== sizeBytes || stats.mtimeMs !== mtimeMs
  // Adding or removing a name also changes the ctime, so it counts only for a file with one name.
  const isTouched = stats.nlink <= 1 && stats.ctimeMs !== ctimeMs
  const isSame = stats.isFile() && stats.ino === inode && !isWritten && !isTouched
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
