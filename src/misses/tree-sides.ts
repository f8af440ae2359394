import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import { readBlob } from '../content/read-blob.js'
import { submessagesOf } from '../proto/submessages.js'
import { Digest } from '../reapi/digest.js'
import { type Call, cancellation } from '../rpc/call.js'
import { TimeSlices } from '../work/time-slices.js'
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
/** Each is hashed and held, however small. */
const MAX_DIRECTORIES = 500_000
const SLICE_MS = 5

/** Held in the ledger for each directory of a Tree, besides its bytes. */
const DIRECTORY_BYTES = 256
const AT_A_TIME = 1024

export interface HeldTree extends TreeSide {
  /** Gives back the memory that is reserved for it. Idempotent. */
  release(): void
}

/**
 * A tree that is one blob: the Tree of an output directory. Rejects with RESOURCE_EXHAUSTED if it is too large, has more
 * than `maxDirectories`, or if this process reads too many trees. It is held until it is released.
 */
export const treeInBlob = async (
  cas: Store,
  tree: Digest,
  call: Call,
  maxDirectories = MAX_DIRECTORIES,
): Promise<HeldTree> => {
  if (tree.sizeBytes > MAX_TREE_BYTES)
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `tree ${tree.key} is too large, expected at most ${MAX_TREE_BYTES} bytes`,
    )
  const room = roomForTree(call, tree.sizeBytes)
  try {
    const directories = new Map<string, Buffer>()
    const add = (directory: Uint8Array): Digest => {
      const digest = Digest.of(directory, tree.function)
      directories.set(digest.key, Buffer.from(directory.buffer, directory.byteOffset, directory.byteLength))
      return digest
    }
    const bytes = await readBlob(cas, tree, call)
    const slices = new TimeSlices(SLICE_MS)
    let count = 0
    for (const child of submessagesOf(bytes, CHILDREN, TREE)) {
      if (count === maxDirectories)
        throw new StatusError('RESOURCE_EXHAUSTED', `tree ${tree.key} has more than ${maxDirectories} directories`)
      if (count % AT_A_TIME === 0) room.grow(AT_A_TIME * DIRECTORY_BYTES)
      count += 1
      add(child)
      const pause = slices.step()
      if (pause === undefined) continue
      await pause
      if (call.signal.aborted) throw cancellation(call.signal)
    }
    const [root = NOTHING] = submessagesOf(bytes, ROOT, TREE)
    return {
      root: add(root),
      read: async ({ key }) => {
        const directory = directories.get(key)
        if (directory === undefined) throw new StatusError('NOT_FOUND', `tree ${tree.key} has no directory ${key}`)
        return directory
      },
      release: room.release,
    }
  } catch (error) {
    room.release()
    throw error
  }
}

/** Reserves memory in the ledger for a tree, or a large directory, that is read for a page. Throws RESOURCE_EXHAUSTED. */
export const roomForTree = ({ held }: Call, sizeBytes: number) => {
  const trees = held?.ledger.kinds.trees
  const reservation = held && trees?.reserveOrThrow(held.holder, sizeBytes)
  return {
    grow: (byBytes: number): void => {
      if (trees !== undefined && reservation?.grow(byBytes) === false) throw trees.exhausted()
    },
    release: (): void => reservation?.release(),
  }
}
