import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { internalCall } from '../../rpc/call.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { OpenDirectory } from '../disk/open-directory.js'
import { type Aside, removeTree } from '../disk/remove-tree.js'
import { openBelow } from './change-root.js'
import { CLOCK_LAG_MS, fileHolds } from './changed.js'
import { below, directoriesOf, type InputDirectory } from './merkle-tree.js'
import { type DirectoryState, directoryMark, type FileState, type RootState } from './root-state.js'

const SLICE = 256
const PARALLEL_READS = 2

/** An input root after its command has run. */
export interface UsedRoot {
  readonly tree: InputDirectory
  /** As it was before the command. */
  readonly state: RootState
  /** When the command began, in milliseconds since the epoch. */
  readonly sinceMs: number
}

/**
 * Removes everything that a command added to its input root. Returns whether the rest is unchanged. `root` is held
 * open, so the command may have moved it but cannot have replaced it. No process may write to it any more.
 *
 * Each file is compared by inode, size, mtime, mode and owner. A file with only one link is read if its ctime changed, so a
 * command that restores the mtime is noticed. The ctime of a link to a file of the store says nothing, because every other
 * link changes it. A write there damages the store's file too (`changedInputs`), so a new root would be no better.
 */
export const restoreRoot = async (
  { tree, state, sinceMs }: UsedRoot,
  root: OpenDirectory,
  aside: Aside,
): Promise<boolean> => {
  // Compare first: below a directory that was replaced by a symlink, names would lead elsewhere.
  const doubtful: DoubtfulFile[] = []
  let looked = 0
  for (const { path, directory } of directoriesOf(tree)) {
    const known = state.get(path)
    if (known === undefined || !isDirectoryAsBefore(`${root.at}/${path}`, known)) return false
    for (const { name } of directory.entries.files) {
      const file = known.files.get(name)
      const now = lstatSync(`${root.at}/${below(path, name)}`, { throwIfNoEntry: false })
      if (file === undefined || now === undefined || !isAsBefore(now, file)) return false
      const isTouched = now.ctimeMs !== file.ctimeMs || now.ctimeMs >= sinceMs - CLOCK_LAG_MS
      if (isTouched && now.nlink === 1) doubtful.push({ path: below(path, name), file })
      if (++looked % SLICE === 0) await setImmediate()
    }
  }
  return (
    (await areIntact(doubtful, root)) && (await removeAdditions(tree, root, aside)) && areSymlinksAsBefore(tree, root)
  )
}

interface DoubtfulFile {
  readonly path: string
  readonly file: FileState
}

const isDirectoryAsBefore = (path: string, { mark }: DirectoryState): boolean => {
  const now = lstatSync(path, { throwIfNoEntry: false })
  return now !== undefined && directoryMark(now) === mark
}

/** mtime in whole milliseconds, the precision to which `changedInputs` restores it. */
const isAsBefore = (now: Stats, { inode, mode, uid, gid, sizeBytes, mtimeMs }: FileState): boolean =>
  now.ino === inode &&
  now.mode === mode &&
  now.uid === uid &&
  now.gid === gid &&
  now.size === sizeBytes &&
  Math.round(now.mtimeMs) === Math.round(mtimeMs)

/** Reads these files, and remembers the ctime of those that are as the digest says. */
const areIntact = async (doubtful: readonly DoubtfulFile[], root: OpenDirectory): Promise<boolean> => {
  let isIntact = true
  await boundedMap(doubtful, PARALLEL_READS, async ({ path, file }) => {
    if (!isIntact) return
    const absolute = `${root.at}/${path}`
    const { ctimeMs } = lstatSync(absolute)
    if (await fileHolds(absolute, file.entry.digest, internalCall())) file.ctimeMs = ctimeMs
    else isIntact = false
  })
  return isIntact
}

const removeAdditions = async (tree: InputDirectory, root: OpenDirectory, aside: Aside): Promise<boolean> => {
  let looked = 0
  for (const { path, directory: expected } of directoriesOf(tree)) {
    const { files, directories, symlinks } = expected.entries
    const names = new Set([...files, ...directories, ...symlinks].map(({ name }) => name))
    const directory = openBelow(root, path)
    try {
      const found = readdirSync(directory.at, { encoding: 'buffer' })
      // Missing files and directories were noticed before; symlinks are checked afterwards.
      for (const name of found) {
        if (names.has(name.toString())) continue
        if ((await removeTree(directory, name, aside)).length > 0) return false
      }
    } finally {
      directory.close()
    }
    if (++looked % SLICE === 0) await setImmediate()
  }
  return true
}

const areSymlinksAsBefore = (tree: InputDirectory, root: OpenDirectory): boolean => {
  for (const { path, directory } of directoriesOf(tree)) {
    for (const { name, target } of directory.entries.symlinks) {
      if (linkTarget(`${root.at}/${below(path, name)}`) !== target) return false
    }
  }
  return true
}

const linkTarget = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
