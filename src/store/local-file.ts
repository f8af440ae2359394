import { constants, statSync } from 'node:fs'
import { access, copyFile, link, unlink, writeFile } from 'node:fs/promises'
import { errnoOf } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { BlobFiles, LocatedBlob } from './store.js'

/** What a link cannot do and a copy can. */
const CANNOT_LINK = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP'])

const FILE_MODE = 0o444
const EXECUTABLE_MODE = 0o555

/** How often to look again when a blob was replaced between its place being told and the link. */
const ATTEMPTS_MAX = 10

/**
 * Makes `destination` a read-only file with the blob's bytes, executable or not: a hard link to the blob's own, or a private
 * copy where that costs less (a small blob), nothing else is possible (another device, too many links), or `isPrivate`. Rejects with
 * NOT_FOUND when the blob is not here, with FAILED_PRECONDITION without a folder for it, else as files do.
 */
export const linkBlob = async (
  files: BlobFiles,
  digest: Digest,
  destination: string,
  isExecutable: boolean,
  isPrivate = false,
): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    if (await placeLocated(await files.locate(digest, isExecutable), destination, { isExecutable, isPrivate })) return
  }
  throw new StatusError('NOT_FOUND', `blob ${digest.key} is replaced all the time`)
}

/** False when the file is not there or not as it was: then it is to be located again. */
const placeLocated = async (
  located: LocatedBlob,
  destination: string,
  { isExecutable, isPrivate }: { readonly isExecutable: boolean; readonly isPrivate: boolean },
): Promise<boolean> => {
  if ('bytes' in located) {
    const mode = isExecutable ? EXECUTABLE_MODE : FILE_MODE
    await writeFile(destination, located.bytes, { flag: 'wx', mode }).catch((error: unknown) => {
      throw errnoOf(error) === 'ENOENT' ? noFolder(error) : error
    })
    return true
  }
  if (!(await (isPrivate ? copyOf : linkOrCopy)(located.path, destination))) return false
  if (isAsLocated(located, destination)) return true
  await unlink(destination)
  return false
}

/** The link's inode was in use a moment ago: asking for it does not wait for the disk. */
const isAsLocated = (
  { path, sizeBytes, mtimeMs }: Exclude<LocatedBlob, { bytes: Buffer }>,
  destination: string,
): boolean => {
  const stats = statSync(destination, { throwIfNoEntry: false })
  if (stats?.size !== sizeBytes) return false
  // A copy has a time of its own: there the original speaks for it.
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

/** ENOENT may mean either end: only a missing source can be looked for again. */
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
