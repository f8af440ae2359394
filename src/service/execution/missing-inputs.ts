import { isStatus, type StatusError } from '../../base/status-error.js'
import { missingOf, type Store } from '../../blobs/store.js'
import type { DirectoryTrees } from '../../content/directory-trees.js'
import { MissingBlobs } from '../../reapi/action.js'
import { directoryFiles } from '../../reapi/action-result.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'

const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Files that are parsed and looked up together, and violations that are encoded together, between turns of the event loop. */
const FILES_AT_A_TIME = 2_000
/** As many as fit into a message of 4 MiB, the limit of gRPC clients. The next Execute reports further ones. */
const MAX_LISTED = 20_000

interface Context {
  readonly cas: Store
  readonly trees: DirectoryTrees
  readonly call: Call
}

/**
 * The missing blobs of an action, each once: `known`, and those of the tree below `inputRoot`. At most MAX_LISTED,
 * because they must fit into one answer.
 */
const missingInputs = async (
  known: readonly Digest[],
  inputRoot: Digest,
  { cas, trees, call }: Context,
): Promise<Digest[]> => {
  const missing = new Map(known.map((digest) => [digest.key, digest]))
  if (missing.has(inputRoot.key)) return [...missing.values()]
  let wanted = new Map<string, Digest>()
  const ask = async (): Promise<void> => {
    for (const digest of await missingOf(cas, [...wanted.values()], call)) missing.set(digest.key, digest)
    wanted = new Map()
  }
  const onMissing = (digest: Digest): void => void missing.set(digest.key, digest)
  try {
    const walk = trees.walk(cas, inputRoot, call, { maxDirectoryBytes: MAX_DIRECTORY_BYTES, onMissing })
    for await (const { digest, message } of walk) {
      for (const files of parts(message.files)) {
        for (const file of directoryFiles({ files }, digest.function)) wanted.set(file.key, file)
        if (wanted.size >= FILES_AT_A_TIME) await ask()
        if (missing.size >= MAX_LISTED) break
        await trees.step(call)
      }
      if (missing.size >= MAX_LISTED) break
    }
  } catch (error) {
    // The root has been evicted since the check before.
    if (!isStatus(error, 'NOT_FOUND')) throw error
    missing.set(inputRoot.key, inputRoot)
  }
  await ask()
  return [...missing.values()].slice(0, MAX_LISTED)
}

/** The error of `missingBlobs` for an action. It is made in parts, because thousands of blobs take many milliseconds. */
export const missingInputsError = async (
  known: readonly Digest[],
  inputRoot: Digest,
  context: Context,
): Promise<StatusError> => {
  const { trees, call } = context
  const missing = new MissingBlobs()
  for (const digests of parts(await missingInputs(known, inputRoot, context))) {
    missing.add(digests)
    await trees.step(call)
  }
  return missing.error()
}

function* parts<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += FILES_AT_A_TIME) yield all.slice(at, at + FILES_AT_A_TIME)
}
