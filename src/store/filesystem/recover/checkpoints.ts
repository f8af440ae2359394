import type { Clock } from '../../../base/clock.js'
import type { Log } from '../../../base/log.js'
import type { BlobIndex } from '../../index/blob-index.js'
import type { RecordLog } from '../records/record-log.js'
import { writeCheckpoint } from './checkpoint.js'

/** How much recency a kill -9 may cost. Blobs are found again without it. */
const PERIOD_MS = 5 * 60_000

/** What a start may have to read of the log: this, or as much as four times a checkpoint, which is then the cheaper part. */
const LOG_BYTES_MAX = 512 * 1024 * 1024
const CHECKPOINT_BYTES_EACH = 64
const LOG_TO_CHECKPOINT = 4

const FULL_CHECK_MS = 1000

export interface CheckpointsParts {
  readonly index: BlobIndex
  readonly records: RecordLog
  readonly path: string
  /** Whether every file in the index was brought onto the disk. */
  readonly isSynced: boolean
  readonly clock: Clock
  readonly log: Log
}

/** Keeps the index on disk: from time to time, when much was written, and at a clean stop. Where nothing changed, not at all. */
export class Checkpoints {
  readonly #parts: CheckpointsParts
  readonly #stopTimers: readonly (() => void)[]
  #work = Promise.resolve()
  #isDue = false
  /** Of the index, as the checkpoint has it. */
  #changeCount: number
  #appendedBytes: number
  /** Everything in front of this segment is in the checkpoint. */
  #firstSegment = 0

  constructor(parts: CheckpointsParts) {
    this.#parts = parts
    this.#changeCount = parts.index.changeCount
    this.#appendedBytes = parts.records.appendedBytes
    this.#stopTimers = [
      parts.clock.every(PERIOD_MS, () => this.#request()),
      parts.clock.every(FULL_CHECK_MS, () => {
        if (this.#isLogLong()) this.#request()
      }),
    ]
  }

  /** Whether a start after this may still come upon the records of a segment. */
  mayReplay(segmentNumber: number): boolean {
    return segmentNumber >= this.#firstSegment
  }

  /** Writes the last one. The index and the log stay as they are from now on. */
  async close(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    await this.#work
    await this.#write(true)
  }

  #request(): void {
    if (this.#isDue || this.#parts.index.changeCount === this.#changeCount) return
    this.#isDue = true
    const { log, path } = this.#parts
    this.#work = this.#work
      .then(() => this.#write(false))
      .catch((error: unknown) => log.warn('could not write the checkpoint of a store', { path, error }))
      .finally(() => {
        this.#isDue = false
      })
  }

  async #write(isClean: boolean): Promise<void> {
    const { index, records, path, isSynced } = this.#parts
    const { changeCount } = index
    const { appendedBytes, end } = records
    // What is believed without reading the log has to be on the disk.
    await records.sync()
    await writeCheckpoint(index, path, { isClean, isSynced, logEnd: end })
    this.#changeCount = changeCount
    this.#appendedBytes = appendedBytes
    this.#firstSegment = end.number
  }

  #isLogLong(): boolean {
    const { index, records } = this.#parts
    const allowed = Math.max(LOG_BYTES_MAX, LOG_TO_CHECKPOINT * CHECKPOINT_BYTES_EACH * index.count)
    return records.appendedBytes - this.#appendedBytes > allowed
  }
}
