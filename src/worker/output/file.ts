import { constants, fstatSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { NodePropertiesInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { timestampOf } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { cancellation } from '../../rpc/call.js'
import type { OutputSizes } from './sizes.js'

/** A blob made by the action: its bytes, or the file with them. */
export interface OutputBlob {
  readonly digest: Digest
  readonly source: Buffer | HashedFile
}

/** The state of a file when it was read. */
export interface HashedFile {
  readonly path: string
  readonly sizeBytes: number
  /** CRC-32 of its bytes, which the store uses to verify its files. */
  readonly checksum: number
  readonly mtimeMs: number
  /** Changes with every write and cannot be set by programs. */
  readonly ctimeMs: number
  readonly inode: number
}

export interface OutputFile extends OutputBlob {
  readonly stats: Stats
}

const CHUNK_BYTES = 256 * 1024
const SMALL_BYTES = 64 * 1024

export interface HashOptions {
  readonly digestFunction: DigestFunction
  /** Grows by small files whose bytes are kept until the upload, so that they are read only once. */
  readonly kept: Reservation
  /** Checked for each file before its bytes are read. */
  readonly sizes?: OutputSizes
  /** An abort ends the hashing. */
  readonly signal: AbortSignal
}

/**
 * Hashes a file in one pass. `undefined` if it does not exist or is not a regular file: fifos, sockets and devices are
 * left out and never read. Symlinks are not followed. Rejects with the signal's status once that aborts.
 */
export const hashFile = async (path: string, options: HashOptions, flags = FLAGS): Promise<OutputFile | undefined> => {
  const { digestFunction, kept, sizes, signal } = options
  if (signal.aborted) throw cancellation(signal)
  const file = await openFile(path, flags)
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    await sizes?.admit(stats)
    if (stats.size > SMALL_BYTES) return { ...(await hashChunks(file, { path, stats }, options)), stats }
    const bytes = await readSmall(file, stats.size)
    const source = kept.grow(bytes.length) ? bytes : hashed({ path, stats }, bytes.length, crc32(bytes))
    return { digest: Digest.of(bytes, digestFunction), source, stats }
  } finally {
    await file.close()
  }
}

/** The contents of an open file without a name; undefined if it is empty. */
export const hashOpenFile = (fd: number, options: HashOptions): Promise<OutputBlob | undefined> => {
  if (fstatSync(fd).size === 0) return Promise.resolve(undefined)
  return hashFile(`/proc/self/fd/${fd}`, options, constants.O_RDONLY)
}

/** Without O_NONBLOCK, opening a fifo would wait for a writer. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const openFile = async (path: string, flags: number): Promise<FileHandle | undefined> => {
  try {
    return await open(path, flags)
  } catch (error) {
    const errno = errnoOf(error)
    // ENXIO: a socket. ELOOP: a symlink that has replaced the file since it was listed.
    if (errno === 'ENOENT' || errno === 'ENXIO' || errno === 'ELOOP') return undefined
    if (errno !== 'EACCES') throw error
    throw new StatusError('FAILED_PRECONDITION', 'the command left it without permission to read', { cause: error })
  }
}

const readSmall = async (file: FileHandle, sizeBytes: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(sizeBytes)
  let filled = 0
  while (filled < sizeBytes) {
    const { bytesRead } = await file.read(bytes, filled, sizeBytes - filled, null)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

interface FoundFile {
  readonly path: string
  readonly stats: Stats
}

const hashed = ({ path, stats }: FoundFile, sizeBytes: number, checksum: number): HashedFile => {
  const { mtimeMs, ctimeMs, ino: inode } = stats
  return { path, sizeBytes, checksum, mtimeMs, ctimeMs, inode }
}

const hashChunks = async (
  file: FileHandle,
  found: FoundFile,
  { digestFunction, signal }: HashOptions,
): Promise<OutputBlob> => {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const hasher = digestFunction.createHasher(found.stats.size)
  let sizeBytes = 0
  let checksum = 0
  for (;;) {
    if (signal.aborted) throw cancellation(signal)
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null)
    if (bytesRead === 0) {
      const digest = Digest.ofHash(hasher, sizeBytes, digestFunction)
      return { digest, source: hashed(found, sizeBytes, checksum) }
    }
    const bytes = chunk.subarray(0, bytesRead)
    hasher.update(bytes)
    checksum = crc32(bytes, checksum)
    sizeBytes += bytesRead
  }
}

/** The node properties that a Command requests by name; `null` if it requests none. */
export const nodePropertiesOf = (stats: Stats | undefined, asked: readonly string[]): NodePropertiesInput | null => {
  if (stats === undefined || asked.length === 0) return null
  return {
    mtime: asked.includes('mtime') ? timestampOf(stats.mtimeMs) : null,
    unixMode: asked.includes('unix_mode') ? { value: stats.mode & 0o7777 } : null,
  }
}
