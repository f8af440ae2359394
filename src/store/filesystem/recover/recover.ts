import type { Log } from '../../../base/log.js'
import type { BlobIndex } from '../../index/blob-index.js'
import type { RecordLog } from '../records/record-log.js'
import { readCheckpoint } from './checkpoint.js'
import { accountAll, replay } from './replay.js'

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
