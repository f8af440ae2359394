import type { Clock } from '../../../base/clock.js'
import type { Log } from '../../../base/log.js'
import { StatusError } from '../../../base/status-error.js'
import type { Inspection } from '../inspection.js'
import type { Located } from '../located.js'
import { Rounds } from '../rounds.js'
import type { Shelf } from '../shelf.js'
import { Pace } from './pace.js'

/** What looking at a blob counts for besides its bytes: even the smallest one costs a page of the disk. */
const BYTES_EACH = 4096

/** A round begins at most so often, however little there is to read. */
const PERIOD_MS = 60 * 60_000

export interface ScrubParts {
  readonly shelf: Shelf
  readonly inspection: Inspection
  readonly clock: Clock
  readonly log: Log
}

/**
 * Reads every blob again, round after round at its pace, and compares it with the checksum it was written with: bytes that
 * rot on the disk are found before somebody needs them. A damaged blob is dropped, and told of; so is what came of each round.
 */
export class Scrub {
  readonly #shelf: Shelf
  readonly #inspection: Inspection
  readonly #pace: Pace
  readonly #log: Log
  readonly #rounds: Rounds
  #checkedBytes = 0

  constructor({ shelf, inspection, clock, log }: ScrubParts, bytesPerSecond: number) {
    this.#shelf = shelf
    this.#inspection = inspection
    this.#pace = new Pace(bytesPerSecond, clock)
    this.#log = log
    this.#rounds = new Rounds({
      clock,
      everyMs: PERIOD_MS,
      begin: () => this.#goRound(),
      failed: (error) => log.error('could not read the blobs of a store again', { error }),
    })
  }

  start(): void {
    this.#rounds.look()
  }

  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    this.#pace.stop()
    await stopped
  }

  async #goRound(): Promise<void> {
    const { index } = this.#shelf
    const before = { damaged: this.#inspection.damagedCount, bytes: this.#checkedBytes }
    let blobs = 0
    for (const slot of index.slots()) {
      if (this.#rounds.isStopped) return
      await this.#check(this.#shelf.at(slot))
      blobs++
    }
    if (blobs === 0) return
    const damaged = this.#inspection.damagedCount - before.damaged
    this.#log.info('read all blobs of a store again', { blobs, bytes: this.#checkedBytes - before.bytes, damaged })
  }

  async #check(located: Located): Promise<void> {
    try {
      if (located.isInline) {
        await this.#take(located.storedBytes + BYTES_EACH)
        await this.#inspection.checkInline(located)
      } else {
        await this.#inspection.check(located, (bytes) => this.#take(bytes))
      }
    } catch (error) {
      if (this.#rounds.isStopped) return
      this.#log.warn('could not read a blob of the store', { blob: located.digest.key, error })
    }
  }

  /** Rejects once there is to be an end, amid a large blob too. */
  async #take(bytes: number): Promise<void> {
    await this.#pace.take(bytes)
    if (this.#rounds.isStopped) throw new StatusError('CANCELLED', 'the store is being closed')
    this.#checkedBytes += bytes
  }
}
