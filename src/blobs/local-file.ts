import { constants, statSync } from 'node:fs'
import { access, copyFile, link, unlink, writeFile } from 'node:fs/promises'
import { errnoOf } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { BlobFiles, LocatedBlob } from './store.js'

/** Errors of `link` after which a copy can still succeed. */
export const CANNOT_LINK: ReadonlySet<string> = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP'])

const FILE_MODE = 0o444
const EXECUTABLE_MODE = 0o555

/** Retries when a blob is replaced after it was located and before it was linked. */
const ATTEMPTS_MAX = 10

/**
 * When a file is a private copy instead of a link: `sole` if it is the only copy of its blob, because the process that gets
 * it can write to read-only files.
 */
export type PrivateCopies = 'none' | 'sole' | 'all'

/**
 * Creates `destination` as a read-only file with the bytes of the blob, executable or not. It is a hard link to the
 * file of the blob, or a private copy: for a small blob (cheaper), where links fail (another device, too many links),
 * and where `copies` asks for one. Rejects with NOT_FOUND when the blob is absent, with FAILED_PRECONDITION when the parent folder
 * is missing, else with the file system's error.
 */
export const linkBlob = async (
  files: BlobFiles,
  digest: Digest,
  destination: string,
  isExecutable: boolean,
  copies: PrivateCopies = 'none',
): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    if (await placeLocated(await files.locate(digest, isExecutable), destination, { isExecutable, copies })) return
  }
  throw new StatusError('NOT_FOUND', `blob ${digest.key} is replaced all the time`)
}

/** False when the file is gone or has changed: the caller must locate it again. */
const placeLocated = async (
  located: LocatedBlob,
  destination: string,
  { isExecutable, copies }: { readonly isExecutable: boolean; readonly copies: PrivateCopies },
): Promise<boolean> => {
  if ('bytes' in located) {
    const mode = isExecutable ? EXECUTABLE_MODE : FILE_MODE
    await writeFile(destination, located.bytes, { flag: 'wx', mode }).catch((error: unknown) => {
      throw errnoOf(error) === 'ENOENT' ? noFolder(error) : error
    })
    return true
  }
  const isPrivate = copies === 'all' || (copies === 'sole' && located.isOnlyCopy === true)
  if (!(await (isPrivate ? copyOf : linkOrCopy)(located.path, destination))) return false
  if (isAsLocated(located, destination)) return true
  await unlink(destination)
  return false
}

/** Synchronous: the inode was used a moment ago, so `stat` does not wait for the disk. */
const isAsLocated = (
  { path, sizeBytes, mtimeMs }: Exclude<LocatedBlob, { bytes: Buffer }>,
  destination: string,
): boolean => {
  const stats = statSync(destination, { throwIfNoEntry: false })
  if (stats?.size !== sizeBytes) return false
  // A copy has its own modification time, so compare that of the original.
  const original = stats.nlink > 1 ? stats : statSync(path, { throwIfNoEntry: false })
  return original?.mtimeMs === mtimeMs
}

/** False when the source is gone. */
const linkOrCopy = async (source: string, destination: string): Promise<boolean> => {
  try {
    await link(source, destination)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return gone(source, error)
    if (!CANNOT_LINK.has(errnoOf(error) ?? '')) throw error
  }
  return copyOf(source, destination)
}

/** False when the source is gone. */
const copyOf = async (source: string, destination: string): Promise<boolean> => {
  try {
    await copyFile(source, destination, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return gone(source, error)
    throw error
  }
}

/** ENOENT may mean the source or the destination. Only a missing source is worth another attempt. */
const gone = async (source: string, error: unknown): Promise<false> => {
  const isThere = await access(source).then(
    () => true,
    () => false,
  )
  if (isThere) throw noFolder(error)
  return false
}

const noFolder = (cause: unknown): StatusError =>
  new StatusError('FAILED_PRECONDITION', 'the folder of the link does not exist', { cause })
