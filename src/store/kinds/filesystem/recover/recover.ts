import { setImmediate } from 'node:timers/promises'
import type { Log } from '../../../../log/log.js'
import { ABSENT, type BlobIndex } from '../../../index/blob-index.js'
import { offsetIn, sequenceAt } from '../records/location.js'
import type { LogPosition, RecordLog } from '../records/record-log.js'
import { walkRecords } from '../records/walk-records.js'
import { readCheckpoint } from './checkpoint.js'
import { Replay } from './replay.js'

/** Slots processed before yielding to the event loop. */
const SLICE = 1 << 14

export interface RecoverParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly checkpointPath: string
  readonly log: Log
  /** The name of the store in the log. */
  readonly path: string
}

export interface RecoveredStore {
  /** Whether files may be damaged: the machine has lost power since, or this is unknown. */
  readonly mayBeTorn: boolean
  /** A start replays records from this sequence number on, until there is another checkpoint. */
  readonly replayedFrom: number
}

/** Fills an empty index with the content of the store when it stopped or was killed. */
export const recover = async ({ index, records, checkpointPath, log, path }: RecoverParts): Promise<RecoveredStore> => {
  const { logEnd, isSameBoot, isRefused } = await readCheckpoint(index, checkpointPath)
  if (isRefused) log.warn('the checkpoint of a store is damaged: reading all of its records instead', { path })
  const isNew = logEnd === undefined && !isRefused && records.segments.length === 0
  const { count, copyCount, replayedFrom } = await replayLog(index, records, logEnd, (blobs) =>
    log.warn('a file of records is gone: its blobs are missing until clients upload them again', { path, blobs }),
  )
  await accountAll(index, records)
  if (!isNew) {
    log.info('recovered the blobs of a store', { path, blobs: index.count, replayed: count, copies: copyCount })
  }
  return { mayBeTorn: !isSameBoot, replayedFrom }
}

/**
 * Replays the log after `logEnd`, or all of it without a checkpoint. The duration depends on what was written since the
 * checkpoint, not on the size of the store. Afterwards the log continues at its end.
 */
const replayLog = async (
  index: BlobIndex,
  records: RecordLog,
  logEnd: LogPosition = { number: 0, offset: 0 },
  onLost: (count: number) => void = () => {},
): Promise<Replay> => {
  const stale = await staleSlots(index, records, logEnd)
  const replay = new Replay(index, sequenceAt(logEnd.number, logEnd.offset), stale)
  const tail = records.segments.filter(({ number }) => number >= logEnd.number)
  let end = 0
  for (const segment of tail) {
    const from = segment.number === logEnd.number ? logEnd.offset : 0
    end = await walkRecords(segment, from, async (found) => {
      for (const record of found) {
        segment.note(record.head, record.length)
        const slot = replay.slotToCompare(record)
        if (slot !== ABSENT) {
          const head = await records.readHead(index.extraOf(slot), record.head.digest)
          if (head !== undefined) replay.compareWith(slot, head.sequence)
        }
        replay.apply(record)
      }
    })
  }
  // A file of records that the cleaner deletes has copies or newer records behind the checkpoint, unless all of its blobs expired and the
  // process was killed before the next checkpoint.
  if (replay.count === 0 && stale.size > 0) onLost(stale.size)
  replay.finish()
  const last = tail.at(-1)
  if (last !== undefined) await records.resume(last, end)
  return replay
}

/** Reports to the log which of its records are needed. */
const accountAll = async (index: BlobIndex, records: RecordLog): Promise<void> => {
  for (const slot of index.slots()) {
    if (slot % SLICE === SLICE - 1) await setImmediate()
    const size = {
      kind: index.kindOf(slot),
      hashBytes: index.hashBytesOf(slot),
      storedBytes: index.storedBytesOf(slot),
    }
    records.need(index.extraOf(slot), size)
  }
}

/**
 * Slots of the checkpoint that need a record of the log. A checkpoint is written while blobs change, so it may contain
 * records after its end; the replay brings those. If the segment of a needed record was deleted since, a copy is after
 * the end. Blobs with neither are gone.
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
