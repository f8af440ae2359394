import { setImmediate } from 'node:timers/promises'
import { LruCache } from '../base/lru-cache.js'
import { isStatus } from '../base/status-error.js'
import { getBytes, type Store } from '../blobs/store.js'
import { codec } from '../proto/codec.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../reapi/digest.js'
import { type Call, callWith } from '../rpc/call.js'
import type { CompareInputs } from './action-difference.js'
import { DescribedActions } from './described-action.js'
import type { TreeEntry } from './directory-entries.js'
import { compareInputFiles, type ExecutionLog } from './execution-log.js'
import type { Evidence } from './explain.js'
import type { History } from './history.js'
import { compareTrees, type TreeBounds, type TreeDifference, type TreeSide } from './tree-difference.js'
import { treeInCas } from './tree-sides.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const MAX_RESULT_BYTES = 4 * 1024 * 1024
/** Directories that many actions of a build share. */
const DIRECTORY_BYTES = 32 * 1024 * 1024

const MAX_CHANGES = 1000

/** The execution log of a build, if its client wrote one and uploaded it. */
export type LogOf = (invocation: string) => Promise<ExecutionLog | undefined>

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
  { logOf, ...bounds }: Partial<TreeBounds> & { readonly logOf?: LogOf } = {},
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
  /** The log of the last build that requested an action has its inputs. */
  const inputsOf = async (action: Digest): Promise<ReadonlyMap<string, TreeEntry> | undefined> => {
    for (const invocation of new Set(history.ofAction(action.key).map((record) => record.invocation))) {
      const log = invocation === '' ? undefined : await logOf?.(invocation)
      const inputs = log?.inputsOf(action)
      if (inputs !== undefined) return inputs
    }
    return undefined
  }
  const fromLogs = async (before: Digest, now: Digest): Promise<TreeDifference | undefined> => {
    const [was, is] = [await inputsOf(before), await inputsOf(now)]
    // Lists of inputs can be long, and a page compares those of many misses.
    await setImmediate()
    return was && is && compareInputFiles(was, is, bounds.maxChanges ?? MAX_CHANGES)
  }
  const compareInputs: CompareInputs = async (before, now) => {
    const difference = await compareTrees(sideOf(before.root), sideOf(now.root), call, bounds)
    // A cache-only client uploads no input directories.
    const isRootUnread = difference.unread.some(({ path }) => path === '')
    return isRootUnread ? fromLogs(before.action, now.action) : difference
  }
  return {
    history,
    action: (digest) => actions.find(digest),
    result: async (digest) => results && resultIn(results, digest, call),
    evictedMs: async (of, digest) => (of === 'result' ? results : cas)?.evictedMs(digest, call),
    compareInputs,
  }
}

/** The result of an action as it is stored; undefined if there is none. */
export const resultIn = async (results: Store, action: Digest, call: Call): Promise<ActionResult | undefined> => {
  try {
    return resultCodec.decode(await getBytes(results, action, MAX_RESULT_BYTES, callWith(call, { isLookup: true })))
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}
