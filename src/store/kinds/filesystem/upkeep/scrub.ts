import { StatusError } from '../../../../base/status-error.js'
import type { Located } from '../located.js'
import { Rounds, type UpkeepParts } from '../rounds.js'
import { Pace } from './pace.js'

/** What checking a blob costs besides its bytes: even the smallest one takes a page of the disk. */
const BYTES_EACH = 4096

/** Minimum time between the starts of two rounds. */
const PERIOD_MS = 60 * 60_000

/**
 * Reads every blob again, in rounds at a limited rate, and compares it with its checksum. This finds bytes that decay
 * on the disk before a client needs them. A damaged blob is dropped and logged, and each round logs a summary.
 */
export class Scrub extends Rounds {
  readonly #parts: UpkeepParts
  readonly #pace: Pace
  #checkedBytes = 0

  constructor(parts: UpkeepParts, bytesPerSecond: number) {
    super(parts, PERIOD_MS, 'could not verify the blobs of a store')
    this.#parts = parts
    this.#pace = new Pace(bytesPerSecond, parts.clock)
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    this.#pace.stop()
    await stopped
  }

  protected override async round(): Promise<void> {
    const { catalog, log } = this.#parts
    const before = { damaged: catalog.damagedCount, bytes: this.#checkedBytes }
    let blobs = 0
    for (const slot of catalog.index.slots()) {
      if (this.isStopped) return
      await this.#check(catalog.at(slot))
      blobs++
    }
    if (blobs === 0) return
    const damaged = catalog.damagedCount - before.damaged
    log.info('verified all blobs of a store', { blobs, bytes: this.#checkedBytes - before.bytes, damaged })
  }

  async #check(located: Located): Promise<void> {
    const { inspection, log } = this.#parts
    try {
      if (located.kind === 'packed') {
        await inspection.checkPacked(located, (bytes) => this.#take(bytes))
      } else if (located.kind === 'bytes') {
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

  /** Rejects once the store is closing, also within a large blob. */
  async #take(bytes: number): Promise<void> {
    await this.#pace.take(bytes)
    if (this.isStopped) throw new StatusError('CANCELLED', 'the store is being closed')
    this.#checkedBytes += bytes
  }
}
