import { setImmediate } from 'node:timers/promises'
import type { Log } from '../../../base/log.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'
import { offsetIn } from '../records/location.js'
import { recordBytesOf } from '../records/record.js'
import type { LogPosition, RecordLog } from '../records/record-log.js'
import { type WalkedRecord, walkRecords } from '../records/walk-records.js'
import { readCheckpoint } from './checkpoint.js'

/** Slots between two breaths. */
const SLICE = 1 << 14

export interface RecoverParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly checkpointPath: string
  readonly log: Log
  /** Names the store in the log. */
  readonly path: string
}

/**
 * Fills an empty index with what the store held when it stopped or was killed. Answers whether its files may be other than
 * they were then: the machine has lost its power since, or nobody can tell.
 */
export const recover = async ({ index, records, checkpointPath, log, path }: RecoverParts): Promise<boolean> => {
  const { logEnd, isSameBoot, isRefused } = await readCheckpoint(index, checkpointPath)
  if (isRefused) log.warn('the checkpoint of a store is damaged: reading all of its records instead', { path })
  const isNew = logEnd === undefined && !isRefused && records.segments.length === 0
  const replayed = await replay(index, records, logEnd)
  await accountAll(index, records)
  if (!isNew) log.info('recovered the blobs of a store', { path, blobs: index.count, replayed })
  return !isSameBoot
}

/**
 * Brings an index that a checkpoint filled up to date with the log: what lies behind `logEnd`, or all of it without a
 * checkpoint, is read in its order. How much that is depends on how much was written since, not on how much the store
 * holds. Goes on writing where the log ends. Answers how many records that were.
 */
const replay = async (
  index: BlobIndex,
  records: RecordLog,
  logEnd: LogPosition = { number: 0, offset: 0 },
): Promise<number> => {
  const stale = await staleSlots(index, records, logEnd)
  const tail = records.segments.filter(({ number }) => number >= logEnd.number)
  let end = 0
  let count = 0
  for (const segment of tail) {
    const from = segment.number === logEnd.number ? logEnd.offset : 0
    end = await walkRecords(segment, from, (found) => {
      count += found.length
      for (const record of found) stale.delete(apply(index, record))
    })
  }
  for (const slot of stale) index.remove(slot)
  const last = tail.at(-1)
  if (last !== undefined) await records.resume(last, end)
  return count
}

/** Tells the log which of its records are needed. */
const accountAll = async (index: BlobIndex, records: RecordLog): Promise<void> => {
  for (const slot of index.slots()) {
    if (slot % SLICE === SLICE - 1) await setImmediate()
    const kind = index.isInline(slot) ? 'bytes' : 'file'
    records.account(index.extraOf(slot), recordBytesOf(kind, index.hashBytesOf(slot), index.storedBytesOf(slot)))
  }
}

/**
 * A checkpoint is written while blobs come and go. What it has of the log behind its end comes with the log; a record whose
 * segment was deleted since was copied to behind the end, if it was needed. Blobs of neither are gone.
 */
const staleSlots = async (index: BlobIndex, records: RecordLog, logEnd: LogPosition): Promise<Set<number>> => {
  const stale = new Set<number>()
  for (const slot of index.slots()) {
    if (slot % SLICE === SLICE - 1) await setImmediate()
    if (!isBefore(index.extraOf(slot), records, logEnd)) stale.add(slot)
  }
  return stale
}

const isBefore = (location: number, records: RecordLog, { number, offset }: LogPosition): boolean => {
  const segment = records.segmentAt(location)
  if (segment === undefined || segment.number > number) return false
  return offsetIn(location) < (segment.number === number ? offset : segment.endBytes)
}

/** Answers the slot of the blob that the record is about. */
const apply = (index: BlobIndex, { head, location, isWhole }: WalkedRecord): number => {
  const { kind, digest, storedBytes, writtenMs } = head
  const known = index.find(digest)
  if (kind === 'removal' || !isWhole) {
    if (known !== ABSENT) index.remove(known)
    return known
  }
  const writtenS = Math.ceil(writtenMs / 1000)
  if (known !== ABSENT && writtenS <= index.accessedOf(known) && index.storedBytesOf(known) === storedBytes) {
    // The copy of a record whose segment had to go makes its blob no more recent.
    if (index.isInline(known) === (kind === 'bytes')) {
      index.setExtra(known, location)
      return known
    }
  }
  const slot = index.insert(digest, storedBytes, kind === 'bytes')
  index.setExtra(slot, location)
  index.touch(slot, writtenS)
  return slot
}
