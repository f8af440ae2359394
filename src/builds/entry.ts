import type { Invocation } from './invocation.js'
import type { Summariser, Summary } from './summary.js'
import type { Bounded } from './tenants.js'

/** One kept invocation, as lists show it. */
export interface Kept {
  readonly key: string
  readonly summary: Summary
  /** On disk. */
  readonly sizeBytes: number
  /** Whether a client publishes its events now. */
  readonly isOpen: boolean
}

/** What is known of one invocation. */
export class Entry implements Bounded {
  sizeBytes = 0
  summary: Summary | undefined
  /** Streams and calls that publish to it. */
  users = 0
  live: Promise<Invocation> | undefined
  /** That of `live`, once it is open. */
  invocation: Invocation | undefined
  /** Reads on where the summary ends. */
  summariser: Summariser | undefined
  summarising: Promise<void> | undefined
  /** Its summary is being written. */
  isKeeping = false
  /** Its log is being closed; the next one to publish waits for it. */
  closing: Promise<void> | undefined

  constructor(
    readonly key: string,
    /** When its log was written last, as long as no summary covers all of it; then 0. */
    public changedMs: number,
  ) {}

  get isOpen(): boolean {
    return this.users > 0
  }

  get startedMs(): number {
    return this.summary?.about.startedMs ?? 0
  }

  get lastEventMs(): number {
    return Math.max(this.summary?.lastEventMs ?? 0, this.changedMs)
  }

  get isAtRest(): boolean {
    return !this.isOpen && this.live === undefined && this.closing === undefined && !this.isKeeping
  }
}

export const keptOf = ({ key, summary, sizeBytes, isOpen }: Entry): Kept | undefined =>
  summary && { key, summary, sizeBytes, isOpen }
