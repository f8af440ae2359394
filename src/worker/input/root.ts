import { createWriteStream, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { chmod, utimes } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileFailure } from '../../base/errno.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { toMs } from '../../proto/time.js'
import { missingBlobs } from '../../reapi/action.js'
import type { Call } from '../../rpc/call.js'
import { linkBlob } from '../../store/contract/local-file.js'
import type { BlobFiles, Store } from '../../store/contract/store.js'
import { WHOLE } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import { isLongerThan, PATH_MAX_BYTES } from '../disk/limits.js'
import type { InputFile, InputTree } from './tree.js'

/** An input file that is a link to the store's, as it was when it was made. */
export interface InputLink extends InputFile {
  readonly inode: number
  /** Of the store's file: to set back, for the store knows its files by it. */
  readonly mtimeMs: number
}

const PARALLEL_FILES = 32
const SLICE = 64

/**
 * Makes the tree below `root`, an empty directory. Files are hard links to the store's, read-only, so that their size
 * costs nothing; with `copies`, where the store has no files, and for files with a mode or time of their own they are
 * private copies. With `isPrivate` every file is a copy, as read-only as a link. Answers the files that are links.
 */
export const makeInputRoot = async (
  tree: InputTree,
  root: string,
  store: Store,
  { copies, isPrivate = false }: { readonly copies: boolean; readonly isPrivate?: boolean },
  call: Call,
): Promise<InputLink[]> => {
  await inSlices(tree.directories, (path) => {
    attempt(path, () => mkdirSync(`${root}/${path}`))
  })
  await inSlices(tree.symlinks, ({ path, target }) => {
    attempt(path, () => symlinkSync(target, `${root}/${path}`))
  })
  const { files } = store
  const isLinked = ({ entry }: InputFile): boolean => !copies && !hasOwnProperties(entry)
  const links: InputLink[] = []
  await boundedMap(tree.files, PARALLEL_FILES, async (file) => {
    try {
      if (files !== undefined && isLinked(file)) {
        const linked = await link(file, root, { files, isPrivate }, call)
        if (!isPrivate) links.push(linked)
      } else await copy(file, root, store, call)
    } catch (error) {
      throw fileFailure(error, inputNamed(file.path))
    }
  })
  return links
}

const link = async (
  file: InputFile,
  root: string,
  { files, isPrivate }: { readonly files: BlobFiles; readonly isPrivate: boolean },
  call: Call,
): Promise<InputLink> => {
  const { digest, isExecutable } = file.entry
  const destination = `${root}/${file.path}`
  if (isLongerThan(destination, PATH_MAX_BYTES)) throw tooLong(file.path)
  try {
    await linkBlob(files, digest, destination, isExecutable, isPrivate)
  } catch (error) {
    if (!isStatus(error, 'NOT_FOUND')) throw error
    // The file of a leased blob vanished behind the store's back; the store behind may still have the blob.
    await files.populate(digest, call).catch((absent: unknown) => {
      throw isStatus(absent, 'NOT_FOUND') ? missingBlobs([digest]) : absent
    })
    await linkBlob(files, digest, destination, isExecutable, isPrivate)
  }
  const { ino: inode, mtimeMs } = lstatSync(destination)
  return { ...file, inode, mtimeMs }
}

/** Said before the store says it, to which a path that cannot be is a fault of its own. */
const tooLong = (path: string): StatusError =>
  new StatusError(
    'INVALID_ARGUMENT',
    `${inputNamed(`${path.slice(0, 100)}...`)}: its path is too long for this machine`,
  )

const copy = async ({ path, entry }: InputFile, root: string, store: Store, call: Call): Promise<void> => {
  const destination = `${root}/${path}`
  const blob = await store.get(entry.digest, WHOLE, call).catch((error: unknown) => {
    throw isStatus(error, 'NOT_FOUND') ? missingBlobs([entry.digest]) : error
  })
  const mode = entry.isExecutable ? 0o755 : 0o644
  await blob.into([createWriteStream(destination, { flags: 'wx', mode })], call.signal)
  const { unixMode, mtime } = entry.nodeProperties ?? { unixMode: null, mtime: null }
  if (unixMode !== null) await chmod(destination, unixMode.value & 0o7777)
  if (mtime !== null) await utimes(destination, toMs(mtime) / 1000, toMs(mtime) / 1000)
}

const hasOwnProperties = ({ nodeProperties }: InputFile['entry']): boolean =>
  nodeProperties !== null && (nodeProperties.unixMode !== null || nodeProperties.mtime !== null)

/**
 * One synchronous call a piece, letting others run after every 64: a directory costs 15 µs this way and three times as
 * much of a core through the thread pool.
 */
const inSlices = async <T>(items: readonly T[], work: (item: T) => void): Promise<void> => {
  for (const [index, item] of items.entries()) {
    work(item)
    if (index % SLICE === SLICE - 1) await setImmediate()
  }
}

const attempt = (path: string, work: () => void): void => {
  try {
    work()
  } catch (error) {
    throw fileFailure(error, inputNamed(path))
  }
}

const inputNamed = (path: string): string => `input ${JSON.stringify(path)}`
