import type { Log } from '../../../base/log.js'
import type { BlobIndex } from '../../index/blob-index.js'
import type { RecordLog } from '../records/record-log.js'
import { markUnclean, type Recovered, readCheckpoint } from './checkpoint.js'
import { accountAll, replay } from './replay.js'

export interface RecoverParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly checkpointPath: string
  readonly log: Log
  /** Names the store in the log. */
  readonly path: string
}

/** What is known of the files of the index after a start. */
export interface Recovery {
  /** Their lengths may not be those they had: nobody has looked since the power may have been lost. */
  readonly hasDoubts: boolean
  /** Each has been on the disk since before this start. */
  readonly areFilesSynced: boolean
}

/** Fills an empty index with what the store held when it stopped or was killed. */
export const recover = async ({ index, records, checkpointPath, log, path }: RecoverParts): Promise<Recovery> => {
  const recovered = await readCheckpoint(index, checkpointPath)
  if (recovered.isRefused)
    log.warn('the checkpoint of a store is damaged: reading all of its records instead', { path })
  if (recovered.isClean) await markUnclean(checkpointPath)
  if (!(await isWhole(recovered, records))) await replay(index, records, recovered.logEnd)
  await accountAll(index, records)
  const hasDoubts = !recovered.isSynced && !recovered.isSameBoot
  if (hasDoubts) doubtFiles(index)
  const isNew = recovered.logEnd === undefined && !recovered.isRefused && records.segments.length === 0
  if (!isNew) log.info('recovered the blobs of a store', { path, blobs: index.count, clean: recovered.isClean })
  return { hasDoubts: hasDoubts || hasDoubtful(index), areFilesSynced: recovered.isSynced || !recovered.isSameBoot }
}

/** Whether the checkpoint is all there is to know. Then the log goes on where it says. */
const isWhole = async ({ isClean, logEnd }: Recovered, records: RecordLog): Promise<boolean> => {
  if (!isClean || logEnd === undefined) return false
  const last = records.segments.at(-1)
  if (last === undefined || last.number < logEnd.number) return true
  if (last.number > logEnd.number || last.endBytes !== logEnd.offset) return false
  await records.resume(last, logEnd.offset)
  return true
}

const doubtFiles = (index: BlobIndex): void => {
  for (let slot = 0; slot < index.slotCount; slot++) {
    if (index.holds(slot) && !index.isInline(slot)) index.setDoubtful(slot, true)
  }
}

const hasDoubtful = (index: BlobIndex): boolean => {
  for (let slot = 0; slot < index.slotCount; slot++) if (index.holds(slot) && index.isDoubtful(slot)) return true
  return false
}
