import type { Clock } from '../../../../base/clock.js'
import type { Log } from '../../../../log/log.js'
import type { BlobIndex } from '../../../index/blob-index.js'
import { sequenceAt } from '../records/location.js'
import type { RecordLog } from '../records/record-log.js'
import { Rounds } from '../rounds.js'
import { writeCheckpoint } from './checkpoint.js'

/** How long the times of use may be in the log only. */
const PERIOD_MS = 5 * 60_000

/**
 * How much log a start may have to read: this much, or four times the size of a checkpoint. A small store has small
 * segments and a smaller bound, so that removals needed by a start stay a small part of it.
 */
const LOG_BYTES_MAX = 512 * 1024 * 1024
const LOG_SEGMENTS_MAX = 16
const CHECKPOINT_BYTES_EACH = 64
const LOG_TO_CHECKPOINT = 4

const LOOK_MS = 1000

export interface CheckpointsParts {
  readonly index: BlobIndex
  /** From the checkpoint of the earlier run. */
  readonly replayedFrom: number
  readonly records: RecordLog
  readonly path: string
  readonly clock: Clock
  readonly log: Log
}

/** Writes the index to disk: periodically, after many writes, and at a clean stop. Skipped when nothing has changed. */
export class Checkpoints extends Rounds {
  readonly #parts: CheckpointsParts
  #nextMs: number
  /** The change count of the index at the last checkpoint. */
  #changeCount: number
  #appendedBytes: number
  #replayedFrom: number

  constructor(parts: CheckpointsParts) {
    super(parts, LOOK_MS, `could not write the checkpoint ${parts.path}`)
    this.#parts = parts
    this.#changeCount = parts.index.changeCount
    this.#appendedBytes = parts.records.appendedBytes
    this.#replayedFrom = parts.replayedFrom
    this.#nextMs = parts.clock.now() + PERIOD_MS
  }

  /** A start reads the newest checkpoint and replays records from this sequence number on. */
  get replayedFrom(): number {
    return this.#replayedFrom
  }

  /** Writes the last checkpoint. The index and the log must not change afterwards. */
  async close(): Promise<void> {
    await this.stop()
    await this.#write(true)
  }

  protected override round(): Promise<void> | undefined {
    return this.#isDue() ? this.#write(false) : undefined
  }

  #isDue(): boolean {
    if (this.#parts.index.changeCount === this.#changeCount) return false
    return this.#parts.clock.now() >= this.#nextMs || this.#isLogLong()
  }

  async #write(isOrdered: boolean): Promise<void> {
    const { index, records, path, clock } = this.#parts
    this.#nextMs = clock.now() + PERIOD_MS
    const { changeCount } = index
    const { appendedBytes, end } = records
    // A start trusts the checkpoint without reading those records, so they must be on disk.
    await records.sync()
    await writeCheckpoint(index, path, { isOrdered, logEnd: end })
    this.#changeCount = changeCount
    this.#appendedBytes = appendedBytes
    this.#replayedFrom = sequenceAt(end.number, end.offset)
  }

  #isLogLong(): boolean {
    const { index, records } = this.#parts
    const leastBytes = Math.min(LOG_BYTES_MAX, LOG_SEGMENTS_MAX * records.segmentBytes)
    const allowed = Math.max(leastBytes, LOG_TO_CHECKPOINT * CHECKPOINT_BYTES_EACH * index.count)
    return records.appendedBytes - this.#appendedBytes > allowed
  }
}
