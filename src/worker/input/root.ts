import { createWriteStream, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { chmod, utimes } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileFailure } from '../../base/errno.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { linkBlob, type PrivateCopies } from '../../blobs/local-file.js'
import type { BlobFiles, Store } from '../../blobs/store.js'
import { toMs } from '../../proto/time.js'
import { missingBlobs } from '../../reapi/action.js'
import type { Call } from '../../rpc/call.js'
import { WHOLE } from '../../stream/path.js'
import { boundedMap } from '../../work/bounded-map.js'
import { isLongerThan, PATH_MAX_BYTES } from '../disk/limits.js'
import type { InputFile, InputTree } from './merkle-tree.js'

/** An input file that is a hard link to a file of the store, with its state when it was linked. */
export interface InputLink extends InputFile {
  readonly inode: number
  /** mtime of the store's file. It must be restored after a change, because the store identifies its files by it. */
  readonly mtimeMs: number
}

const PARALLEL_FILES = 32
const SLICE = 64

/**
 * Creates the tree below `root`, an empty directory. Files are read-only hard links to files of the store, so their
 * size costs nothing. They are private copies with `copies`, if the store has no files, and if they have their own mode
 * or mtime. Where `privateCopies` asks for it, a file is a read-only copy. Returns the files that are links.
 */
export const makeInputRoot = async (
  tree: InputTree,
  root: string,
  store: Store,
  options: FileOptions,
  call: Call,
): Promise<InputLink[]> => {
  await inSlices(tree.directories, (path) => {
    attempt(path, () => mkdirSync(`${root}/${path}`))
  })
  await inSlices(tree.symlinks, ({ path, target }) => {
    attempt(path, () => symlinkSync(target, `${root}/${path}`))
  })
  const place = filePlacer(root, store, options, call)
  const links: InputLink[] = []
  await boundedMap(tree.files, PARALLEL_FILES, async (file) => {
    const linked = await place(file, `${root}/${file.path}`)
    if (linked !== undefined) links.push(linked)
  })
  return links
}

export interface FileOptions {
  /** Whether all files are private copies. */
  readonly copies: boolean
  readonly privateCopies?: PrivateCopies
}

/** Creates an input file at an absolute path where nothing is. Returns the link, undefined for a private copy. */
export type PlaceFile = (file: InputFile, destination: string) => Promise<InputLink | undefined>

/** The way in which `makeInputRoot` creates files: in their place below `root`, or aside to be renamed to it. */
export const filePlacer = (
  root: string,
  store: Store,
  { copies, privateCopies = 'none' }: FileOptions,
  call: Call,
): PlaceFile => {
  const { files } = store
  return async (file, destination) => {
    try {
      if (files === undefined || copies || hasOwnProperties(file.entry)) {
        await copy(file, destination, store, call)
        return undefined
      }
      if (isLongerThan(`${root}/${file.path}`, PATH_MAX_BYTES)) throw tooLong(file.path)
      return await link(file, destination, { files, privateCopies }, call)
    } catch (error) {
      throw fileFailure(error, inputNamed(file.path))
    }
  }
}

const link = async (
  file: InputFile,
  destination: string,
  { files, privateCopies }: { readonly files: BlobFiles; readonly privateCopies: PrivateCopies },
  call: Call,
): Promise<InputLink | undefined> => {
  const { digest, isExecutable } = file.entry
  try {
    await linkBlob(files, digest, destination, isExecutable, privateCopies)
  } catch (error) {
    if (!isStatus(error, 'NOT_FOUND')) throw error
    // The file of a leased blob was deleted by another process. A slower tier of the store may still have the blob.
    await files.populate(digest, call).catch((absent: unknown) => {
      throw isStatus(absent, 'NOT_FOUND') ? missingBlobs([digest]) : absent
    })
    await linkBlob(files, digest, destination, isExecutable, privateCopies)
  }
  if (privateCopies === 'all') return undefined
  const { ino: inode, mtimeMs, nlink } = lstatSync(destination)
  return privateCopies === 'sole' && nlink === 1 ? undefined : { ...file, inode, mtimeMs }
}

/** Checked here, because the store would report such a path as its own failure. */
const tooLong = (path: string): StatusError =>
  new StatusError(
    'INVALID_ARGUMENT',
    `${inputNamed(`${path.slice(0, 100)}...`)}: its path is too long for this machine`,
  )

const copy = async ({ entry }: InputFile, destination: string, store: Store, call: Call): Promise<void> => {
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
 * One synchronous call per item, with a pause for other work after every 64. A directory takes 15 µs this way, and
 * three times as much CPU through the thread pool.
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
