import type { Clock } from '../../base/clock.js'
import type { ExecutedActionMetadataInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { durationOf, timestampOf } from '../../proto/time.js'

type TimestampField = Exclude<keyof ExecutedActionMetadataInput & `${string}Timestamp`, undefined>

/**
 * The timestamps of one attempt in the order of their marks. They never decrease, even if the clocks of this machine
 * and of the scheduler differ, because clients compute durations from them (REAPI ExecutedActionMetadata).
 */
export class AttemptTimes {
  readonly #clock: Clock
  readonly #marks: Partial<Record<TimestampField, number>> = {}
  #lastMs: number
  runMs = 0

  constructor(clock: Clock, queuedMs: number | undefined) {
    this.#clock = clock
    this.#lastMs = queuedMs ?? 0
    if (queuedMs !== undefined) this.#marks.queuedTimestamp = queuedMs
  }

  mark(...fields: readonly TimestampField[]): void {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.now())
    for (const field of fields) this.#marks[field] = this.#lastMs
  }

  metadata(worker: string): ExecutedActionMetadataInput {
    const metadata: ExecutedActionMetadataInput = { worker, virtualExecutionDuration: durationOf(this.runMs) }
    for (const [field, ms] of Object.entries(this.#marks)) metadata[field as TimestampField] = timestampOf(ms)
    return metadata
  }
}
