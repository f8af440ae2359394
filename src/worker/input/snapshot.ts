import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { OpenDirectory } from '../disk/open-directory.js'
import { type Aside, removeTree } from '../disk/remove-tree.js'
import type { InputTree } from './tree.js'

/** What tells a file from another, and from itself before it was written to; see `changedInputs` for what it does not. */
type Mark = string

export interface InputSnapshot {
  /** By path in the root, in the order of the tree's files and then its directories with the root itself. */
  readonly marks: readonly Mark[]
}

const SLICE = 256

const markOf = ({ ino, mode, uid, gid }: Stats): Mark => `${ino} ${mode} ${uid} ${gid}`
/** In whole milliseconds, to which `changedInputs` sets it back. */
const fileMark = (stats: Stats): Mark => `${markOf(stats)} ${stats.size} ${Math.round(stats.mtimeMs)}`

/** How an input root is before its command runs: some 5 µs a file. */
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
 * Removes what a command added to its input root and answers whether the rest is as it was before. `root` is a directory held
 * open, which the command can have moved but not exchanged.
 */
export const restoreRoot = async (
  tree: InputTree,
  { marks }: InputSnapshot,
  root: OpenDirectory,
  aside: Aside,
): Promise<boolean> => {
  // Directories first: names below one that was exchanged for a symlink lead elsewhere.
  const now = await marksOf(tree, root.at)
  if (now.some((mark, index) => mark !== marks[index])) return false
  const expected = childrenOf(tree)
  let looked = 0
  for (const path of ['', ...tree.directories]) {
    const directory = openBelow(root, path)
    try {
      const names = readdirSync(directory.at, { encoding: 'buffer' })
      const extras = names.filter((name) => expected.get(path)?.has(name.toString()) !== true)
      // What is expected and not there was marked above, symlinks aside.
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

/** Each name looked up in its directory alone: no symlink is followed. */
const openBelow = (root: OpenDirectory, path: string): OpenDirectory => {
  let directory = root.child('.')
  for (const name of path === '' ? [] : path.split('/')) {
    const child = directory.child(name)
    directory.close()
    directory = child
  }
  return directory
}
