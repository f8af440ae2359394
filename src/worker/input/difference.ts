import type { Digest } from '../../reapi/digest.js'
import type { DirectoryEntry, FileEntry, SymlinkEntry } from '../../reapi/directory.js'
import { below, blobsBelow, type InputDirectory } from './merkle-tree.js'

/** A file or symlink, or a directory with all below it. */
export interface Gone {
  readonly name: string
  readonly directory: InputDirectory | undefined
}

/** What has to change in one directory that both trees have. */
export interface DirectoryChange {
  /** Relative to the root; empty for the root itself. */
  readonly path: string
  /** Names to remove first. What another file or symlink replaces in one step is not among them. */
  readonly gone: readonly Gone[]
  /** Files that are new, or differ. A file or symlink of that name is replaced. */
  readonly files: readonly FileEntry[]
  /** Symlinks that are new, or differ. A file or symlink of that name is replaced. */
  readonly symlinks: readonly SymlinkEntry[]
  /** New directories with all that is below them. */
  readonly directories: readonly { readonly name: string; readonly directory: InputDirectory }[]
}

/** How one input root becomes another (`changeRoot`). */
export interface Difference {
  /** Parents before children. Directories without a change of their own are left out. */
  readonly changes: readonly DirectoryChange[]
  /** Entries to make, and to remove, with those in directories that are new or gone. */
  readonly made: number
  readonly removed: number
  /** Of those made, the files. */
  readonly placedFiles: number
  /** Directories and files that `wanted` has and that the kept tree may lack, each once. */
  readonly blobs: readonly Digest[]
}

/**
 * The difference of two Merkle trees. Subtrees with equal digests are not entered, so the time depends on what differs.
 * Properties of files that no file system shows (`bazel_tool_input`) make no difference.
 */
export const difference = (kept: InputDirectory, wanted: InputDirectory): Difference => {
  const changes: DirectoryChange[] = []
  const blobs = new Map<string, Digest>()
  let [made, removed, placedFiles] = [0, 0, 0]
  const open = [{ path: '', kept, wanted }]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (pair.kept.digest.key === pair.wanted.digest.key) continue
    const { change, common } = inDirectory(pair)
    blobs.set(pair.wanted.digest.key, pair.wanted.digest)
    for (const { digest } of change.files) blobs.set(digest.key, digest)
    const fresh = change.directories.map(({ directory }) => directory)
    for (const [key, digest] of blobsBelow(fresh)) blobs.set(key, digest)
    made += change.files.length + change.symlinks.length + sizeOf(fresh)
    placedFiles += change.files.length + fresh.reduce((sum, { fileCount }) => sum + fileCount, 0)
    removed += change.removed
    if (change.gone.length + change.files.length + change.symlinks.length + fresh.length > 0) changes.push(change)
    for (const one of common) open.push(one)
  }
  return { changes, made, removed, placedFiles, blobs: [...blobs.values()] }
}

interface Pair {
  readonly path: string
  readonly kept: InputDirectory
  readonly wanted: InputDirectory
}

const inDirectory = ({
  path,
  kept,
  wanted,
}: Pair): { readonly change: DirectoryChange & { readonly removed: number }; readonly common: readonly Pair[] } => {
  const [files, symlinks, directories] = [byName(kept.entries.files), byName(kept.entries.symlinks), childrenOf(kept)]
  const gone: Gone[] = []
  const fresh: DirectoryChange['directories'][number][] = []
  const common: Pair[] = []
  let removed = 0
  const remove = (name: string, directory?: InputDirectory): void => {
    gone.push({ name, directory })
    removed += directory === undefined ? 1 : sizeOf([directory])
  }
  const replacing = new Set([...wanted.entries.files, ...wanted.entries.symlinks].map(({ name }) => name))
  for (const [name, directory] of childrenOf(wanted)) {
    const before = directories.get(name)
    if (before === undefined) fresh.push({ name, directory })
    else common.push({ path: below(path, name), kept: before, wanted: directory })
    directories.delete(name)
  }
  // Directories that are left have no directory of that name in the wanted tree.
  for (const [name, directory] of directories) remove(name, directory)
  for (const { name } of [...kept.entries.files, ...kept.entries.symlinks]) if (!replacing.has(name)) remove(name)
  const change = {
    path,
    gone,
    files: wanted.entries.files.filter((file) => !isSameFile(files.get(file.name), file)),
    symlinks: wanted.entries.symlinks.filter(({ name, target }) => symlinks.get(name)?.target !== target),
    directories: fresh,
    removed,
  }
  return { change, common }
}

const sizeOf = (directories: readonly InputDirectory[]): number =>
  directories.reduce((sum, { entryCount }) => sum + 1 + entryCount, 0)

const byName = <T extends { readonly name: string }>(entries: readonly T[]): Map<string, T> =>
  new Map(entries.map((entry) => [entry.name, entry]))

const childrenOf = ({ entries, children }: InputDirectory): Map<string, InputDirectory> =>
  new Map(entries.directories.map(({ name }: DirectoryEntry, at) => [name, children[at] as InputDirectory]))

/** Whether both are the same on disk. */
const isSameFile = (one: FileEntry | undefined, other: FileEntry): boolean =>
  one !== undefined &&
  one.digest.key === other.digest.key &&
  one.isExecutable === other.isExecutable &&
  one.nodeProperties?.unixMode?.value === other.nodeProperties?.unixMode?.value &&
  one.nodeProperties?.mtime?.seconds === other.nodeProperties?.mtime?.seconds &&
  one.nodeProperties?.mtime?.nanos === other.nodeProperties?.mtime?.nanos
