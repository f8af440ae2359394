import { StatusError } from '../base/status-error.js'
import { readBlob } from '../content/read-blob.js'
import { submessagesOf } from '../proto/submessages.js'
import { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import type { Store } from '../store/contract/store.js'
import type { TreeSide } from './tree-difference.js'

/** A tree whose directories are blobs of a CAS. */
export const treeInCas = (cas: Store, root: Digest, call: Call): TreeSide => ({
  root,
  read: (directory) => (directory.isEmpty ? Promise.resolve(NOTHING) : readBlob(cas, directory, call)),
})

const NOTHING = Buffer.alloc(0)
const TREE = 'build.bazel.remote.execution.v2.Tree'
const ROOT = [1]
const CHILDREN = [2]
/** A larger Tree is not read into memory. */
const MAX_TREE_BYTES = 64 * 1024 * 1024

/** A tree that is one blob: the Tree of an output directory. */
export const treeInBlob = async (cas: Store, tree: Digest, call: Call): Promise<TreeSide> => {
  if (tree.sizeBytes > MAX_TREE_BYTES)
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `tree ${tree.key} is too large, expected at most ${MAX_TREE_BYTES} bytes`,
    )
  const bytes = await readBlob(cas, tree, call)
  const directories = new Map<string, Buffer>()
  const add = (directory: Uint8Array): Digest => {
    const digest = Digest.of(directory, tree.function)
    directories.set(digest.key, Buffer.from(directory.buffer, directory.byteOffset, directory.byteLength))
    return digest
  }
  for (const child of submessagesOf(bytes, CHILDREN, TREE)) add(child)
  const [root = NOTHING] = submessagesOf(bytes, ROOT, TREE)
  return {
    root: add(root),
    read: async ({ key }) => {
      const directory = directories.get(key)
      if (directory === undefined) throw new StatusError('NOT_FOUND', `tree ${tree.key} has no directory ${key}`)
      return directory
    },
  }
}
