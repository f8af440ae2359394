import { isStatus } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import { type Call, cancellation } from '../rpc/call.js'
import { boundedMap } from '../work/bounded-map.js'
import { TimeSlices } from '../work/time-slices.js'
import { type EntryChange, entriesThatDiffer, type TreeEntry } from './directory-entries.js'

/** One difference between two trees. A directory that only one of them has is one change. */
export interface TreeChange {
  /** Relative to the root. */
  readonly path: string
  /** Undefined if the tree of this side does not have the path. */
  readonly before: TreeEntry | undefined
  readonly now: TreeEntry | undefined
}

export interface TreeDifference {
  /** Shallow ones first. */
  readonly changes: readonly TreeChange[]
  /** Directories that differ but could not be compared. */
  readonly unread: readonly UnreadDirectory[]
  /** False if a bound ended the comparison. */
  readonly isComplete: boolean
}

export interface UnreadDirectory {
  readonly path: string
  readonly side: 'before' | 'now'
  readonly digest: Digest
  readonly reason: string
}

/** A tree and how to read it. */
export interface TreeSide {
  readonly root: Digest
  /** An encoded Directory of the tree. Rejects with NOT_FOUND if it is absent. */
  read(directory: Digest): Promise<Buffer>
}

export interface TreeBounds {
  readonly maxChanges: number
  /** Pairs of directories that are compared. */
  readonly maxPairs: number
  /** A larger directory is not read. */
  readonly maxDirectoryBytes: number
}

/** Eight pairs in memory at a time: at most 256 MiB for two trees of huge directories, some KiB for usual ones. */
const BOUNDS: TreeBounds = { maxChanges: 1000, maxPairs: 20_000, maxDirectoryBytes: 16 * 1024 * 1024 }
const PAIRS_AT_A_TIME = 8
const MAX_UNREAD = 100
const SLICE_MS = 10

interface Pair {
  readonly path: string
  readonly before: Digest
  readonly now: Digest
}

/**
 * The entries that differ between two trees. Descends only where digests differ, so the work is proportional to the
 * difference and not to the trees. Trees that differ without end reach a bound.
 */
export const compareTrees = async (
  before: TreeSide,
  now: TreeSide,
  call: Call,
  bounds: Partial<TreeBounds> = {},
): Promise<TreeDifference> => {
  const { maxChanges, maxPairs, maxDirectoryBytes } = { ...BOUNDS, ...bounds }
  const slices = new TimeSlices(SLICE_MS)
  const changes: TreeChange[] = []
  const unread: UnreadDirectory[] = []
  const [wasFunction, isFunction] = [before.root.function.name, now.root.function.name]
  if (wasFunction !== isFunction) {
    const reason = `its digests are ${isFunction} and those of the other tree ${wasFunction}`
    return { changes, unread: [{ path: '', side: 'now', digest: now.root, reason }], isComplete: false }
  }
  const waiting: Pair[] = before.root.key === now.root.key ? [] : [{ path: '', before: before.root, now: now.root }]
  let head = 0
  while (head < waiting.length && head < maxPairs && unread.length < MAX_UNREAD) {
    const batch = waiting.slice(head, Math.min(head + PAIRS_AT_A_TIME, maxPairs))
    head += batch.length
    const compared = await boundedMap(batch, PAIRS_AT_A_TIME, async (pair) => {
      await slices.step()
      return comparePair(pair, before, now, maxDirectoryBytes)
    })
    if (call.signal.aborted) throw cancellation(call.signal)
    for (const [index, { path }] of batch.entries()) {
      const result = compared[index] as PairDifference
      unread.push(...result.unread)
      for (const { name, before: was, now: is } of result.changes) {
        const change = { path: path === '' ? name : `${path}/${name}`, before: was, now: is }
        if (was?.kind === 'directory' && is?.kind === 'directory')
          waiting.push({ path: change.path, before: was.digest as Digest, now: is.digest as Digest })
        else if (changes.length < maxChanges) changes.push(change)
        else return { changes, unread, isComplete: false }
      }
    }
  }
  return { changes, unread, isComplete: head >= waiting.length }
}

interface PairDifference {
  readonly changes: readonly EntryChange[]
  readonly unread: readonly UnreadDirectory[]
}

const comparePair = async (pair: Pair, before: TreeSide, now: TreeSide, maxBytes: number): Promise<PairDifference> => {
  const { path } = pair
  const unread: UnreadDirectory[] = []
  const readSide = async (side: 'before' | 'now', tree: TreeSide): Promise<Buffer | undefined> => {
    const digest = pair[side]
    const reason = (text: string): undefined => {
      unread.push({ path, side, digest, reason: text })
    }
    if (digest.sizeBytes > maxBytes) return reason(`it is larger than ${maxBytes} bytes`)
    try {
      return await tree.read(digest)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return reason('it is not in the CAS')
      throw error
    }
  }
  const [left, right] = await Promise.all([readSide('before', before), readSide('now', now)])
  if (left === undefined || right === undefined) return { changes: [], unread }
  try {
    return { changes: entriesThatDiffer(left, right, pair.now.function), unread }
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
    return { changes: [], unread: [{ path, side: 'now', digest: pair.now, reason: error.message }] }
  }
}
