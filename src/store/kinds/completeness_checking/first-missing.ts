import { isStatus } from '../../../base/status-error.js'
import { missingOf, type Store } from '../../../blobs/store.js'
import type { DirectoryTrees } from '../../../content/directory-trees.js'
import { readBlob } from '../../../content/read-blob.js'
import { codec } from '../../../proto/codec.js'
import { submessagesOf } from '../../../proto/submessages.js'
import { directoryFiles, type ReferencedBlobs } from '../../../reapi/action-result.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

/** `root` and `children` of a Tree. */
const TREE_DIRECTORIES = [1, 2]

// Half a million files. For a larger Tree only its presence is checked: reading it would take more memory than a hit is
// worth.
const MAX_TREE_BYTES = 64 * 1024 * 1024
/** Trees up to this size are read without a turn. */
const SMALL_TREE_BYTES = 1024 * 1024
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
const ASKED_AT_A_TIME = 10_000

interface Context {
  readonly cas: Store
  readonly trees: DirectoryTrees
  readonly call: Call
}

/** Some of the blobs that a result refers to, or one found absent. */
type Part = readonly Digest[] | { readonly absent: Digest }

/**
 * The first absent blob among all that a result refers to, files inside trees included; undefined when all are present.
 * Asks the CAS for each of them, so that a hit counts as a use of all (REAPI, GetActionResult).
 */
export const firstMissing = async (referenced: ReferencedBlobs, context: Context): Promise<Digest | undefined> => {
  const { cas, call } = context
  const { blobs, trees, rootDirectories } = referenced
  if (trees.length === 0 && rootDirectories.length === 0) {
    if (blobs.count === 0) return undefined
    const missing = await cas.findMissing(blobs, call)
    return missing.count === 0 ? undefined : missing.at(0)
  }
  let wanted = new Map<string, Digest>()
  const ask = async (): Promise<Digest | undefined> => {
    const asked = [...wanted.values()]
    wanted = new Map()
    return (await missingOf(cas, asked, call))[0]
  }
  for await (const part of partsOf(referenced, context)) {
    if ('absent' in part) return part.absent
    for (const digest of part) wanted.set(digest.key, digest)
    const missing = wanted.size < ASKED_AT_A_TIME ? undefined : await ask()
    if (missing !== undefined) return missing
  }
  return ask()
}

async function* partsOf(
  { blobs, trees: treeBlobs, rootDirectories }: ReferencedBlobs,
  context: Context,
): AsyncGenerator<Part> {
  yield [...blobs.digests(), ...treeBlobs, ...rootDirectories]
  for (const tree of treeBlobs) {
    if (tree.sizeBytes <= SMALL_TREE_BYTES) yield* orAbsent(tree, filesOfTree(tree, context))
    else if (tree.sizeBytes <= MAX_TREE_BYTES) {
      yield* orAbsent(
        tree,
        context.trees.inTurn(context.call, () => filesOfTree(tree, context)),
      )
    }
  }
  for (const root of rootDirectories) yield* orAbsent(root, directoriesBelow(root, context))
}

/** The files of one Directory after the other, because a fully decoded Tree takes ten times its size. */
async function* filesOfTree(tree: Digest, { cas, trees, call }: Context): AsyncGenerator<Part> {
  const bytes = await readBlob(cas, tree, call)
  for (const directory of submessagesOf(bytes, TREE_DIRECTORIES, 'build.bazel.remote.execution.v2.Tree')) {
    await trees.step(call)
    yield directoryFiles(directoryCodec.decode(directory), tree.function)
  }
}

/** Every directory from `root` down, and every file in them. */
async function* directoriesBelow(root: Digest, { cas, trees, call }: Context): AsyncGenerator<Part> {
  let absent: Digest | undefined
  const onMissing = (digest: Digest): void => {
    absent ??= digest
  }
  const walk = trees.walk(cas, root, call, { maxDirectoryBytes: MAX_DIRECTORY_BYTES, onMissing })
  for await (const { digest, message } of walk) {
    yield [digest, ...directoryFiles(message, digest.function)]
    if (absent !== undefined) break
  }
  if (absent !== undefined) yield { absent }
}

/** If the tree itself is absent, it is the answer. */
async function* orAbsent(digest: Digest, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  try {
    yield* parts
  } catch (error) {
    if (!isStatus(error, 'NOT_FOUND')) throw error
    yield { absent: digest }
  }
}
