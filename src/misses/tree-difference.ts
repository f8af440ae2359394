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
  /** Entries that are decoded, a few microseconds each. */
  readonly maxEntries: number
  /** A larger directory is not read. */
  readonly maxDirectoryBytes: number
}

const BOUNDS: TreeBounds = {
  maxChanges: 1000,
  maxPairs: 20_000,
  maxEntries: 1_000_000,
  maxDirectoryBytes: 16 * 1024 * 1024,
}
/** Pairs are read together: so many, and as long as their directories have no more bytes than two of the largest. */
const PAIRS_AT_A_TIME = 8
const MAX_UNREAD = 100
/** Linux accepts no longer path. A tree that contains itself, in a store that does not check digests, has no end. */
const MAX_PATH_LENGTH = 4096
const SLICE_MS = 5

interface Pair {
  readonly path: string
  readonly before: Digest
  readonly now: Digest
}

/**
 * The entries that differ between two trees. Descends only where digests differ, so the work is proportional to the
 * difference and not to the trees. Trees that differ without end, and those that repeat a directory very often, reach a
 * bound.
 */
export const compareTrees = async (
  before: TreeSide,
  now: TreeSide,
  call: Call,
  bounds: Partial<TreeBounds> = {},
): Promise<TreeDifference> => {
  const { maxChanges, maxPairs, maxEntries, maxDirectoryBytes } = { ...BOUNDS, ...bounds }
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
  let decodedCount = 0
  while (head < waiting.length && head < maxPairs && decodedCount < maxEntries && unread.length < MAX_UNREAD) {
    const batch = batchOf(waiting, head, maxPairs, 2 * maxDirectoryBytes)
    head += batch.length
    const compared = await boundedMap(batch, PAIRS_AT_A_TIME, async (pair) => {
      await slices.step()
      return comparePair(pair, { before, now, maxDirectoryBytes, slices })
    })
    if (call.signal.aborted) throw cancellation(call.signal)
    for (const [index, { path }] of batch.entries()) {
      const result = compared[index] as PairDifference
      unread.push(...result.unread)
      decodedCount += result.decodedCount
      for (const { name, before: was, now: is } of result.changes) {
        const change = { path: path === '' ? name : `${path}/${name}`, before: was, now: is }
        const isPair = was?.kind === 'directory' && is?.kind === 'directory'
        if (isPair && waiting.length <= maxPairs)
          waiting.push({ path: change.path, before: was.digest as Digest, now: is.digest as Digest })
        else if (!isPair && changes.length < maxChanges) changes.push(change)
        else if (!isPair) return { changes, unread, isComplete: false }
      }
    }
  }
  return { changes, unread, isComplete: head >= waiting.length }
}

const batchOf = (waiting: readonly Pair[], head: number, maxPairs: number, maxBytes: number): readonly Pair[] => {
  const batch: Pair[] = []
  let sizeBytes = 0
  for (const pair of waiting.slice(head, Math.min(head + PAIRS_AT_A_TIME, maxPairs))) {
    sizeBytes += pair.before.sizeBytes + pair.now.sizeBytes
    if (batch.length > 0 && sizeBytes > maxBytes) break
    batch.push(pair)
  }
  return batch
}

interface Comparing {
  readonly before: TreeSide
  readonly now: TreeSide
  readonly maxDirectoryBytes: number
  readonly slices: TimeSlices
}

interface PairDifference {
  readonly changes: readonly EntryChange[]
  readonly unread: readonly UnreadDirectory[]
  readonly decodedCount: number
}

const comparePair = async (
  pair: Pair,
  { before, now, maxDirectoryBytes: maxBytes, slices }: Comparing,
): Promise<PairDifference> => {
  const { path } = pair
  const unread: UnreadDirectory[] = []
  const leave = (side: 'before' | 'now', reason: string): undefined => {
    unread.push({ path: path.slice(0, MAX_PATH_LENGTH), side, digest: pair[side], reason })
  }
  const readSide = async (side: 'before' | 'now', tree: TreeSide): Promise<Buffer | undefined> => {
    const digest = pair[side]
    if (digest.sizeBytes > maxBytes) return leave(side, `it is larger than ${maxBytes} bytes`)
    try {
      return await tree.read(digest)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return leave(side, 'it is not in the CAS')
      throw error
    }
  }
  if (path.length > MAX_PATH_LENGTH) {
    leave('now', `its path has more than ${MAX_PATH_LENGTH} characters`)
    return { changes: [], unread, decodedCount: 0 }
  }
  const [left, right] = await Promise.all([readSide('before', before), readSide('now', now)])
  if (left === undefined || right === undefined) return { changes: [], unread, decodedCount: 0 }
  try {
    return { ...(await entriesThatDiffer(left, right, pair.now.function, slices)), unread }
  } catch (error) {
    if (!isStatus(error, 'INVALID_ARGUMENT') && !isStatus(error, 'RESOURCE_EXHAUSTED')) throw error
    return { changes: [], unread: [{ path, side: 'now', digest: pair.now, reason: error.message }], decodedCount: 0 }
  }
}
