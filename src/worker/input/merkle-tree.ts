import type { Digest } from '../../reapi/digest.js'
import { type Directory, EMPTY_DIRECTORY, type FileEntry } from '../../reapi/directory.js'
import { Sketch } from './sketch.js'

/**
 * A directory of an input root with all that lies below it. Equal directories of a tree are one object, so a small tree can
 * describe very many paths: the totals count each path.
 */
export interface InputDirectory {
  readonly digest: Digest
  readonly entries: Directory
  /** In the order of `entries.directories`. */
  readonly children: readonly InputDirectory[]
  readonly fileCount: number
  /** Files, directories and symlinks below it. */
  readonly entryCount: number
  /** Total size of the files. */
  readonly fileBytes: number
  /** Whether a command may execute one of the files. */
  readonly hasPrograms: boolean
  /** The files below it, for the search of a similar root. */
  readonly sketch: Sketch
}

export interface InputFile {
  /** Relative to the input root. */
  readonly path: string
  readonly entry: FileEntry
}

export interface InputSymlink {
  readonly path: string
  readonly target: string
}

/** Everything in an input root as flat lists, with all paths relative to the root. */
interface FlatLists {
  readonly directories: readonly string[]
  readonly files: readonly InputFile[]
  readonly symlinks: readonly InputSymlink[]
}

/** The tree of an input root: a Merkle tree, in which each directory has a digest that describes all below it. */
export class InputTree {
  readonly root: InputDirectory
  /** Directories that are not in the store. Their contents are not known, and they are empty in this tree. */
  readonly missing: readonly Digest[]
  #lists: FlatLists | undefined

  constructor(root: InputDirectory, missing: readonly Digest[] = []) {
    this.root = root
    this.missing = missing
  }

  /** Parents before children, without the root itself. */
  get directories(): readonly string[] {
    return this.#flat.directories
  }

  get files(): readonly InputFile[] {
    return this.#flat.files
  }

  get symlinks(): readonly InputSymlink[] {
    return this.#flat.symlinks
  }

  /** All Directories and files, each once. */
  get blobs(): readonly Digest[] {
    return [...blobsBelow([this.root]).values()]
  }

  get #flat(): FlatLists {
    this.#lists ??= flatten(this.root)
    return this.#lists
  }
}

/**
 * Puts a tree together from the directories that were read; one that is not among them is empty. Does not recurse, because
 * a tree may be thousands of levels deep.
 */
export const assemble = (root: Digest, read: ReadonlyMap<string, Directory>): InputDirectory => {
  const made = new Map<string, InputDirectory>()
  const open = [root]
  for (let digest = open.at(-1); digest !== undefined; digest = open.at(-1)) {
    const entries = read.get(digest.key) ?? EMPTY_DIRECTORY
    const waiting = made.has(digest.key) ? [] : entries.directories.filter((child) => !made.has(child.digest.key))
    if (waiting.length > 0) {
      for (const child of waiting) open.push(child.digest)
      continue
    }
    open.pop()
    if (made.has(digest.key)) continue
    const children = entries.directories.map((child) => made.get(child.digest.key) as InputDirectory)
    made.set(digest.key, directoryOf(digest, entries, children))
  }
  return made.get(root.key) as InputDirectory
}

const directoryOf = (digest: Digest, entries: Directory, children: readonly InputDirectory[]): InputDirectory => {
  const own = ownOf(entries)
  const sum = (of: (child: InputDirectory) => number): number => children.reduce((total, child) => total + of(child), 0)
  return {
    digest,
    entries,
    children,
    fileCount: entries.files.length + sum((child) => child.fileCount),
    entryCount: own.entryCount + sum((child) => child.entryCount),
    fileBytes: own.fileBytes + sum((child) => child.fileBytes),
    hasPrograms: own.hasPrograms || children.some((child) => child.hasPrograms),
    sketch: children.reduce((sketch, child) => sketch.with(child.sketch), own.sketch),
  }
}

/** What a Directory holds itself. Remembered, because trees share most of their Directories. */
type Own = Pick<InputDirectory, 'entryCount' | 'fileBytes' | 'hasPrograms' | 'sketch'>
const known = new WeakMap<Directory, Own>()

const ownOf = (entries: Directory): Own => {
  const before = known.get(entries)
  if (before !== undefined) return before
  const { files, directories, symlinks } = entries
  const own = {
    entryCount: files.length + directories.length + symlinks.length,
    fileBytes: files.reduce((sum, { digest }) => sum + digest.sizeBytes, 0),
    hasPrograms: files.some(mayBeExecuted),
    sketch: Sketch.of(files),
  }
  known.set(entries, own)
  return own
}

/** Execute permission for owner, group or others. */
const EXECUTABLE = 0o111

const mayBeExecuted = ({ isExecutable, nodeProperties }: FileEntry): boolean =>
  isExecutable || ((nodeProperties?.unixMode?.value ?? 0) & EXECUTABLE) !== 0

/** The Directories and files of these directories and all below them, by key. */
export const blobsBelow = (roots: readonly InputDirectory[]): Map<string, Digest> => {
  const blobs = new Map<string, Digest>()
  const open = [...roots]
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    if (blobs.has(directory.digest.key)) continue
    blobs.set(directory.digest.key, directory.digest)
    for (const { digest } of directory.entries.files) blobs.set(digest.key, digest)
    for (const child of directory.children) open.push(child)
  }
  return blobs
}

/** A directory at one of its paths. */
export interface PlacedDirectory {
  readonly path: string
  readonly directory: InputDirectory
}

/** Each directory with its path, parents before children, beginning with `root` itself at `path`. */
export function* directoriesOf(root: InputDirectory, path = ''): Generator<PlacedDirectory> {
  const open = [{ path, directory: root }]
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    yield found
    const { entries, children } = found.directory
    for (const [at, { name }] of entries.directories.entries()) {
      open.push({ path: below(found.path, name), directory: children[at] as InputDirectory })
    }
  }
}

const flatten = (root: InputDirectory): FlatLists => {
  const directories: string[] = []
  const files: InputFile[] = []
  const symlinks: InputSymlink[] = []
  for (const { path, directory } of directoriesOf(root)) {
    if (path !== '') directories.push(path)
    for (const entry of directory.entries.files) files.push({ path: below(path, entry.name), entry })
    for (const { name, target } of directory.entries.symlinks) symlinks.push({ path: below(path, name), target })
  }
  return { directories, files, symlinks }
}

export const below = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)
