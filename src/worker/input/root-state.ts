import { lstatSync, type Stats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { FileEntry } from '../../reapi/directory.js'
import { below, directoriesOf, type InputDirectory } from './merkle-tree.js'
import type { InputLink } from './root.js'

/** One input file as it was when its root was made. */
export interface FileState {
  readonly entry: FileEntry
  /** Whether it is a hard link to a file of the store, so that a write would reach other actions too. */
  readonly isLink: boolean
  readonly inode: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** Changes with each write, and with each change of mode, times or links. No command can set it. */
  ctimeMs: number
}

/** One directory of an input root, and the files in it by name. */
export interface DirectoryState {
  /** Inode, mode and owner. */
  readonly mark: string
  readonly files: Map<string, FileState>
}

/**
 * What is known of an input root on disk, by path of the directory; the root itself has the empty path. A few hundred bytes
 * a file. Belongs to whoever owns the root, and changes with it (`changeRoot`).
 */
export type RootState = Map<string, DirectoryState>

const SLICE = 256

export const directoryMark = ({ ino, mode, uid, gid }: Stats): string => `${ino} ${mode} ${uid} ${gid}`

export const fileState = (entry: FileEntry, isLink: boolean, stats: Stats): FileState => {
  const { ino: inode, mode, uid, gid, size: sizeBytes, mtimeMs, ctimeMs } = stats
  return { entry, isLink, inode, mode, uid, gid, sizeBytes, mtimeMs, ctimeMs }
}

/** The state of a root that was just made. Takes about 5 µs a file. `links` are the files that are hard links. */
export const readState = async (
  tree: InputDirectory,
  root: string,
  links: readonly InputLink[],
): Promise<RootState> => {
  const linked = new Set(links.map(({ path }) => path))
  const state: RootState = new Map()
  let looked = 0
  for (const { path, directory } of directoriesOf(tree)) {
    const files = new Map<string, FileState>()
    state.set(path, { mark: directoryMark(lstatSync(`${root}/${path}`)), files })
    for (const entry of directory.entries.files) {
      const file = below(path, entry.name)
      files.set(entry.name, fileState(entry, linked.has(file), lstatSync(`${root}/${file}`)))
      if (++looked % SLICE === 0) await setImmediate()
    }
  }
  return state
}

/** The files that are hard links to files of the store. */
export const linksOf = (state: RootState): InputLink[] => {
  const links: InputLink[] = []
  for (const [path, { files }] of state) {
    for (const [name, { entry, isLink, inode, mtimeMs }] of files) {
      if (isLink) links.push({ path: below(path, name), entry, inode, mtimeMs })
    }
  }
  return links
}
