import type { Clock } from '../../../base/clock.js'
import type { Log } from '../../../base/log.js'
import type { Inspection } from '../inspection.js'
import type { Shelf } from '../shelf.js'
import { Cleaner } from './cleaner.js'
import { Patrol } from './patrol.js'
import { Scrub } from './scrub.js'

export interface UpkeepParts {
  readonly shelf: Shelf
  readonly inspection: Inspection
  readonly clock: Clock
  readonly log: Log
  /** Read again and compared; 0 for none. */
  readonly scrubBytesPerSecond: number
  /** Whether a start may still come upon the removals of a segment. */
  mayReplay(segmentNumber: number): boolean
}

/** What a store does by itself, behind the back of every call. */
export class Upkeep {
  readonly #cleaner: Cleaner
  readonly #patrol: Patrol
  readonly #scrub: Scrub | undefined

  constructor({ shelf, inspection, clock, log, scrubBytesPerSecond, mayReplay }: UpkeepParts) {
    this.#cleaner = new Cleaner({ shelf, inspection, clock, log, mayReplay })
    this.#patrol = new Patrol({ shelf, inspection, clock, log })
    if (scrubBytesPerSecond > 0) this.#scrub = new Scrub({ shelf, inspection, clock, log }, scrubBytesPerSecond)
  }

  start(): void {
    this.#patrol.start()
    this.#scrub?.start()
  }

  /** Why a folder could not be read when it was last tried; undefined when all could. */
  get failure(): string | undefined {
    return this.#patrol.failure
  }

  /** Whether the files have been compared with the index since the start; blobs are found meanwhile. */
  get hasReconciled(): boolean {
    return this.#patrol.hasGoneRound
  }

  async stop(): Promise<void> {
    await Promise.all([this.#cleaner.stop(), this.#patrol.stop(), this.#scrub?.stop()])
  }
}
