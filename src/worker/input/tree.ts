import type { LruCache } from '../../base/lru-cache.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { getBytes, type Store } from '../../blobs/store.js'
import { walk } from '../../content/walk.js'
import type { Digest } from '../../reapi/digest.js'
import { type Directory, EMPTY_DIRECTORY, parseDirectory } from '../../reapi/directory.js'
import { type Call, cancellation } from '../../rpc/call.js'
import { isLongerThan, NAME_MAX_BYTES, PATH_MAX_BYTES, UNIT_MAX_BYTES } from '../disk/limits.js'
import { assemble, below, InputTree } from './merkle-tree.js'
import { TreesAhead } from './trees-ahead.js'

const PARALLEL_FETCHES = 32
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024
/** Equal directories are stored once, so 30 small blobs can describe 2^30 paths. Larger trees are refused. */
const MAX_ENTRIES = 2_000_000

/**
 * Reads the whole input tree of an action. Directories that are `known` are not read again and may have left the store.
 * Rejects with INVALID_ARGUMENT if a Directory is not valid, or if a name or path is too long for a file system.
 */
export const readInputTree = async (
  root: Digest,
  store: Store,
  known: LruCache<Directory>,
  call: Call,
): Promise<InputTree> => {
  const missing: Digest[] = []
  const directories = new Map<string, Directory>()
  /** For messages: one of the paths at which each Directory occurs. */
  const paths = new Map([[root.key, '']])
  const pathOf = ({ key }: Digest): string => paths.get(key) ?? ''
  const depths = new Map([[root.key, 0]])
  const ahead = new TreesAhead(root, store, call)
  const found = walk<Directory>(root, {
    fetch: async (digest) => {
      const directory = known.get(digest.key)
      if (directory !== undefined) return directory
      await ahead.fetch(digest, depths.get(digest.key) ?? 0)
      return fetchDirectory(digest, pathOf(digest), store, call)
    },
    childrenOf: (directory, digest) => {
      rejectTooLong(directory, pathOf(digest))
      const depth = (depths.get(digest.key) ?? 0) + 1
      for (const child of directory.directories) {
        paths.set(child.digest.key, below(pathOf(digest), child.name))
        if (!depths.has(child.digest.key)) depths.set(child.digest.key, depth)
      }
      return directory.directories.map((child) => child.digest)
    },
    lanes: PARALLEL_FETCHES,
    maxBytes: MAX_DIRECTORY_BYTES,
  })
  try {
    for await (const { digest, directory } of found) {
      if (call.signal.aborted) throw cancellation(call.signal)
      directories.set(digest.key, directory ?? EMPTY_DIRECTORY)
      if (directory === undefined) missing.push(digest)
      else known.set(digest.key, directory, digest.sizeBytes)
    }
  } finally {
    ahead.end()
  }
  const tree = new InputTree(assemble(root, directories), missing)
  if (tree.root.entryCount > MAX_ENTRIES) {
    throw new StatusError('INVALID_ARGUMENT', `the input root has more than ${MAX_ENTRIES} entries, expected fewer`)
  }
  return tree
}

const fetchDirectory = async (
  digest: Digest,
  path: string,
  store: Store,
  call: Call,
): Promise<Directory | undefined> => {
  if (digest.isEmpty) return EMPTY_DIRECTORY
  if (digest.sizeBytes > MAX_DIRECTORY_BYTES) {
    const message = `input directory ${JSON.stringify(path)} has ${digest.sizeBytes} bytes`
    throw new StatusError('INVALID_ARGUMENT', `${message}, expected at most ${MAX_DIRECTORY_BYTES}`)
  }
  try {
    const bytes = await getBytes(store, digest, MAX_DIRECTORY_BYTES, call)
    return parseDirectory(bytes, digest.function, path)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** Rejects names and paths that are too long. This also bounds how much of an endless chain of directories is read. */
const rejectTooLong = (directory: Directory, path: string): void => {
  const longest = longestNameOf(directory)
  if (longest <= SURELY_SHORT_NAME && longest + path.length <= SURELY_SHORT_PATH) return
  const { files, directories, symlinks } = directory
  for (const { name } of [...files, ...directories, ...symlinks]) {
    if (isLongerThan(name, NAME_MAX_BYTES)) {
      const found = `${JSON.stringify(shortened(name))} has a name of ${Buffer.byteLength(name)} bytes`
      const directory = `input directory ${JSON.stringify(shortened(path))}`
      throw new StatusError('INVALID_ARGUMENT', `${directory}: ${found}, expected at most ${NAME_MAX_BYTES}`)
    }
    if (isLongerThan(below(path, name), PATH_MAX_BYTES)) {
      const message = `input ${JSON.stringify(shortened(path))} holds a path that is longer than ${PATH_MAX_BYTES} bytes`
      throw new StatusError('INVALID_ARGUMENT', `${message}, which no machine can make`)
    }
  }
}

/** No text of so many UTF-16 units has too many bytes. */
const SURELY_SHORT_NAME = Math.floor(NAME_MAX_BYTES / UNIT_MAX_BYTES)
const SURELY_SHORT_PATH = Math.floor(PATH_MAX_BYTES / UNIT_MAX_BYTES) - 1

/** Remembered: known directories with thousands of names are looked at for each action. */
const longestNames = new WeakMap<Directory, number>()

const longestNameOf = (directory: Directory): number => {
  const known = longestNames.get(directory)
  if (known !== undefined) return known
  const { files, directories, symlinks } = directory
  let longest = 0
  for (const { name } of [...files, ...directories, ...symlinks]) longest = Math.max(longest, name.length)
  longestNames.set(directory, longest)
  return longest
}

const SHOWN_CHARACTERS = 100

const shortened = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
