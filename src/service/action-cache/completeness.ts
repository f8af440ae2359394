import type { Call } from '../../base/call.js'
import { isStatus } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { directoryFiles, type ReferencedBlobs, treeFiles } from '../../reapi/action-result.js'
import type { Digest } from '../../reapi/digest.js'
import { missingOf, type Store } from '../../store/store.js'
import { readBlob } from '../blob.js'
import { walkDirectories } from '../directory-walk.js'

const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

// Half a million files. A larger Tree is looked for but not into: that would take more memory than a hit is worth.
const MAX_TREE_BYTES = 64 * 1024 * 1024
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024

/**
 * The first blob found absent of all that a result refers to, files inside trees included; undefined when every one is
 * there. One question to the CAS for all of them, so that a hit also counts as a use of each (REAPI, GetActionResult).
 */
export const firstMissing = async (
  { blobs, trees, rootDirectories }: ReferencedBlobs,
  cas: Store,
  call: Call,
): Promise<Digest | undefined> => {
  if (trees.length === 0 && rootDirectories.length === 0) {
    return (await missingOf(cas, blobs, call))[0]
  }
  const wanted = new Map<string, Digest>()
  const want = (digest: Digest): void => void wanted.set(digest.key, digest)
  for (const digest of [...blobs, ...trees, ...rootDirectories]) want(digest)
  for (const tree of trees) {
    if (tree.sizeBytes > MAX_TREE_BYTES) continue
    const bytes = await present(readBlob(cas, tree, call))
    if (bytes === undefined) return tree
    for (const file of treeFiles(treeCodec.decode(bytes), tree.function)) want(file)
  }
  for (const root of rootDirectories) {
    const missing = await present(wantDirectories(cas, root, call, want))
    if (missing === undefined) return root
    if (missing[0] !== undefined) return missing[0]
  }
  const [missing] = await missingOf(cas, [...wanted.values()], call)
  return missing
}

/** Wants every directory from `root` down and every file in them; the directories that are absent. */
const wantDirectories = async (
  cas: Store,
  root: Digest,
  call: Call,
  want: (digest: Digest) => void,
): Promise<Digest[]> => {
  const missing: Digest[] = []
  const onMissing = (digest: Digest): void => void missing.push(digest)
  const walk = walkDirectories(cas, root, call, { maxDirectoryBytes: MAX_DIRECTORY_BYTES, onMissing })
  for await (const { digest, message } of walk) {
    want(digest)
    for (const file of directoryFiles(message, digest.function)) want(file)
  }
  return missing
}

/** Undefined when what was asked for is absent: absence here is an answer. */
const present = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
