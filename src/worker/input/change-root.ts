import { lstatSync, mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { cancellation } from '../../rpc/call.js'
import { boundedMap } from '../../work/bounded-map.js'
import type { OpenDirectory } from '../disk/open-directory.js'
import { type Aside, removeTree } from '../disk/remove-tree.js'
import type { Difference, DirectoryChange } from './difference.js'
import { below, directoriesOf, type PlacedDirectory } from './merkle-tree.js'
import type { PlaceFile } from './root.js'
import { type DirectoryState, directoryMark, fileState, type RootState } from './root-state.js'

const PARALLEL_DIRECTORIES = 8
const PARALLEL_FILES = 8
const SLICE = 64

export interface ChangeOptions {
  /** A folder on the same file system for new files until they have their place, and for directories to remove. */
  readonly aside: Aside
  readonly place: PlaceFile
  /** Ends the work between two steps. */
  readonly signal: AbortSignal
}

/**
 * Applies a `difference` to an input root on disk that is exactly the kept tree, and brings `state` up to date with it.
 * Untouched are all entries that are equal in both trees, and the inode of each directory that both have. New files and
 * symlinks are made aside and renamed, so that each name always shows the old or the new one. Names are looked up only
 * in directories held open, and no symlink is followed. After a rejection the root is neither tree: discard it.
 */
export const changeRoot = async (
  { changes }: Difference,
  root: OpenDirectory,
  state: RootState,
  options: ChangeOptions,
): Promise<void> => {
  const step = steps(options.signal)
  for (const change of changes) await removeGone(change, root, state, options.aside, step)
  const full: Filled[] = []
  for (const change of changes) {
    full.push(change)
    for (const { name, directory } of change.directories) {
      for (const fresh of directoriesOf(directory, below(change.path, name))) full.push(filled(fresh))
    }
  }
  for (const directory of full) await makeInside(directory, root, state, options.aside, step)
  await boundedMap(full, PARALLEL_DIRECTORIES, async ({ path, files }) => {
    if (files.length > 0) await placeFiles(path, files, root, state, options)
  })
}

/** The parts of a directory that are made in it. */
interface Filled extends Pick<DirectoryChange, 'path' | 'files' | 'symlinks'> {
  readonly directories: readonly { readonly name: string }[]
}

const filled = ({ path, directory }: PlacedDirectory): Filled => ({ path, ...directory.entries })

const removeGone = async (
  { path, gone }: DirectoryChange,
  root: OpenDirectory,
  state: RootState,
  aside: Aside,
  step: () => Promise<void>,
): Promise<void> => {
  if (gone.length === 0) return
  const directory = openBelow(root, path)
  try {
    for (const { name, directory: removed } of gone) {
      await step()
      if (removed !== undefined) {
        const [obstacle] = await removeTree(directory, name, aside)
        if (obstacle !== undefined) throw obstacle.error
        for (const found of directoriesOf(removed, below(path, name))) state.delete(found.path)
      } else {
        unlinkSync(directory.below(name))
        state.get(path)?.files.delete(name)
      }
    }
  } finally {
    directory.close()
  }
}

/** Makes the new directories and symlinks of a directory. */
const makeInside = async (
  { path, directories, symlinks }: Filled,
  root: OpenDirectory,
  state: RootState,
  aside: Aside,
  step: () => Promise<void>,
): Promise<void> => {
  if (directories.length + symlinks.length === 0) return
  const directory = openBelow(root, path)
  try {
    for (const { name } of directories) {
      await step()
      mkdirSync(directory.below(name))
      state.set(below(path, name), { mark: directoryMark(lstatSync(directory.below(name))), files: new Map() })
    }
    for (const { name, target } of symlinks) {
      await step()
      const temporary = aside.newName()
      symlinkSync(target, aside.folder.below(temporary))
      renameSync(aside.folder.below(temporary), directory.below(name))
      state.get(path)?.files.delete(name)
    }
  } finally {
    directory.close()
  }
}

const placeFiles = async (
  path: string,
  files: Filled['files'],
  root: OpenDirectory,
  state: RootState,
  { aside, place, signal }: ChangeOptions,
): Promise<void> => {
  const directory = openBelow(root, path)
  const { files: known } = state.get(path) as DirectoryState
  try {
    await boundedMap(files, PARALLEL_FILES, async (entry) => {
      if (signal.aborted) throw cancellation(signal)
      const temporary = String(aside.folder.below(aside.newName()))
      const link = await place({ path: below(path, entry.name), entry }, temporary)
      renameSync(temporary, directory.below(entry.name))
      const stats = lstatSync(directory.below(entry.name))
      // A rename of one link of a file over another does nothing.
      if (stats.ino === known.get(entry.name)?.inode) removeIfThere(temporary)
      known.set(entry.name, fileState(entry, link !== undefined, stats))
    })
  } finally {
    directory.close()
  }
}

const removeIfThere = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path)
}

/** To be awaited before each step of synchronous work: pauses for other work now and then. */
const steps = (signal: AbortSignal): (() => Promise<void>) => {
  let count = 0
  return async () => {
    if (signal.aborted) throw cancellation(signal)
    if (++count % SLICE === 0) await setImmediate()
  }
}

/** Opens a directory of the root. Each name is looked up in its own directory, so no symlink is followed. */
export const openBelow = (root: OpenDirectory, path: string): OpenDirectory => {
  let directory = root.child('.')
  for (const name of path === '' ? [] : path.split('/')) {
    try {
      const child = directory.child(name)
      directory.close()
      directory = child
    } catch (error) {
      directory.close()
      throw error
    }
  }
  return directory
}
