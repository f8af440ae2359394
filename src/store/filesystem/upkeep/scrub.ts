import { StatusError } from '../../../base/status-error.js'
import type { Located } from '../located.js'
import { Rounds, type UpkeepParts } from '../rounds.js'
import { Pace } from './pace.js'

/** What looking at a blob counts for besides its bytes: even the smallest one costs a page of the disk. */
const BYTES_EACH = 4096

/** A round begins at most so often, however little there is to read. */
const PERIOD_MS = 60 * 60_000

/**
 * Reads every blob again, round after round at its pace, and compares it with the checksum it was written with: bytes that
 * rot on the disk are found before somebody needs them. A damaged blob is dropped, and told of; so is what came of each round.
 */
export class Scrub extends Rounds {
  readonly #parts: UpkeepParts
  readonly #pace: Pace
  #checkedBytes = 0

  constructor(parts: UpkeepParts, bytesPerSecond: number) {
    super(parts, PERIOD_MS, 'could not read the blobs of a store again')
    this.#parts = parts
    this.#pace = new Pace(bytesPerSecond, parts.clock)
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    this.#pace.stop()
    await stopped
  }

  protected override async round(): Promise<void> {
    const { shelf, inspection, log } = this.#parts
    const before = { damaged: inspection.damagedCount, bytes: this.#checkedBytes }
    let blobs = 0
    for (const slot of shelf.index.slots()) {
      if (this.isStopped) return
      await this.#check(shelf.at(slot))
      blobs++
    }
    if (blobs === 0) return
    const damaged = inspection.damagedCount - before.damaged
    log.info('read all blobs of a store again', { blobs, bytes: this.#checkedBytes - before.bytes, damaged })
  }

  async #check(located: Located): Promise<void> {
    const { inspection, log } = this.#parts
    try {
      if (located.isInline) {
        await this.#take(located.storedBytes + BYTES_EACH)
        await inspection.checkInline(located)
      } else {
        await inspection.check(located, (bytes) => this.#take(bytes))
      }
    } catch (error) {
      if (this.isStopped) return
      log.warn('could not read a blob of the store', { blob: located.digest.key, error })
    }
  }

  /** Rejects once there is to be an end, amid a large blob too. */
  async #take(bytes: number): Promise<void> {
    await this.#pace.take(bytes)
    if (this.isStopped) throw new StatusError('CANCELLED', 'the store is being closed')
    this.#checkedBytes += bytes
  }
}
