import { LruCache } from '../base/lru-cache.js'
import { isStatus } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import { getBytes, type Store } from '../store/contract/store.js'
import type { CompareInputs } from './action-difference.js'
import { DescribedActions } from './described-action.js'
import type { Evidence } from './explain.js'
import type { History } from './history.js'
import { compareTrees, type TreeBounds, type TreeSide } from './tree-difference.js'
import { treeInCas } from './tree-sides.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const MAX_RESULT_BYTES = 4 * 1024 * 1024
/** Directories that many actions of a build share. */
const DIRECTORY_BYTES = 32 * 1024 * 1024

export interface InstanceStores {
  readonly cas: Store
  /** The entries as they are stored, without a look at their outputs. Undefined without an action cache. */
  readonly results: Store | undefined
}

/** What an instance of this server has about actions. Reads each Action and Directory once. */
export const evidenceOf = (
  { cas, results }: InstanceStores,
  history: History,
  call: Call,
  bounds: Partial<TreeBounds> = {},
): Evidence => {
  const actions = new DescribedActions(cas, call)
  const directories = new LruCache<Promise<Buffer>>(DIRECTORY_BYTES)
  const sideOf = (root: Digest): TreeSide => {
    const side = treeInCas(cas, root, call)
    const read = (digest: Digest): Promise<Buffer> => {
      const known = directories.get(digest.key) ?? side.read(digest)
      directories.set(digest.key, known, digest.sizeBytes + 1024)
      return known
    }
    return { root, read }
  }
  const compareInputs: CompareInputs = async (before, now) => {
    const difference = await compareTrees(sideOf(before.root), sideOf(now.root), call, bounds)
    // A cache-only client uploads no input directories.
    const isRootUnread = difference.unread.some(({ path }) => path === '')
    return isRootUnread ? undefined : difference
  }
  return {
    history,
    action: (digest) => actions.find(digest),
    result: async (digest) => results && resultIn(results, digest, call),
    compareInputs,
  }
}

/** The result of an action as it is stored; undefined if there is none. */
export const resultIn = async (results: Store, action: Digest, call: Call): Promise<ActionResult | undefined> => {
  try {
    return resultCodec.decode(await getBytes(results, action, MAX_RESULT_BYTES, call))
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}
