import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { OpenDirectory } from '../disk/open-directory.js'
import { type Aside, removeTree } from '../disk/remove-tree.js'
import type { InputTree } from './merkle-tree.js'

/** A fingerprint that changes if a file is replaced or written to. See `changedInputs` for what it does not detect. */
type Mark = string

export interface InputSnapshot {
  /** In the order of the tree's files, then of the root itself and the tree's directories. */
  readonly marks: readonly Mark[]
}

const SLICE = 256

const markOf = ({ ino, mode, uid, gid }: Stats): Mark => `${ino} ${mode} ${uid} ${gid}`
/** mtime in whole milliseconds, the precision to which `changedInputs` restores it. */
const fileMark = (stats: Stats): Mark => `${markOf(stats)} ${stats.size} ${Math.round(stats.mtimeMs)}`

/** The state of an input root before its command runs. Takes about 5 µs a file. */
export const takeSnapshot = async (tree: InputTree, root: string): Promise<InputSnapshot> => ({
  marks: await marksOf(tree, root),
})

const marksOf = async (tree: InputTree, root: string): Promise<Mark[]> => {
  const marks: Mark[] = []
  for (const { path } of tree.files) {
    const stats = lstatSync(`${root}/${path}`, { throwIfNoEntry: false })
    marks.push(stats === undefined ? '' : fileMark(stats))
    if (marks.length % SLICE === 0) await setImmediate()
  }
  for (const path of ['.', ...tree.directories]) {
    const stats = lstatSync(`${root}/${path}`, { throwIfNoEntry: false })
    marks.push(stats === undefined ? '' : markOf(stats))
    if (marks.length % SLICE === 0) await setImmediate()
  }
  return marks
}

/**
 * Removes everything that a command added to its input root. Returns whether the rest is unchanged. `root` is held
 * open, so the command may have moved it but cannot have replaced it.
 */
export const restoreRoot = async (
  tree: InputTree,
  { marks }: InputSnapshot,
  root: OpenDirectory,
  aside: Aside,
): Promise<boolean> => {
  // Compare first: below a directory that was replaced by a symlink, names would lead elsewhere.
  const now = await marksOf(tree, root.at)
  if (now.some((mark, index) => mark !== marks[index])) return false
  const expected = childrenOf(tree)
  let looked = 0
  for (const path of ['', ...tree.directories]) {
    const directory = openBelow(root, path)
    try {
      const names = readdirSync(directory.at, { encoding: 'buffer' })
      const extras = names.filter((name) => expected.get(path)?.has(name.toString()) !== true)
      // Missing files and directories were noticed by their marks above; symlinks are checked below.
      for (const extra of extras) if ((await removeTree(directory, extra, aside)).length > 0) return false
    } finally {
      directory.close()
    }
    if (++looked % SLICE === 0) await setImmediate()
  }
  return tree.symlinks.every(({ path, target }) => linkTarget(`${root.at}/${path}`) === target)
}

const linkTarget = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const childrenOf = (tree: InputTree): ReadonlyMap<string, ReadonlySet<string>> => {
  const children = new Map<string, Set<string>>([['', new Set()]])
  for (const path of tree.directories) children.set(path, new Set())
  for (const path of [
    ...tree.directories,
    ...tree.files.map((file) => file.path),
    ...tree.symlinks.map((link) => link.path),
  ]) {
    const at = path.lastIndexOf('/')
    children.get(at < 0 ? '' : path.slice(0, at))?.add(path.slice(at + 1))
  }
  return children
}

/** Looks up each name in its own directory, so no symlink is followed. */
const openBelow = (root: OpenDirectory, path: string): OpenDirectory => {
  let directory = root.child('.')
  for (const name of path === '' ? [] : path.split('/')) {
    const child = directory.child(name)
    directory.close()
    directory = child
  }
  return directory
}
