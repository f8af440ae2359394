import { StatusError } from '../../../../base/status-error.js'
import type { CheckOutcome } from '../inspection.js'
import type { Located } from '../located.js'
import { Rounds, type UpkeepParts } from '../rounds.js'
import { Pace } from './pace.js'

/** What checking a blob costs besides its bytes: even the smallest one takes a page of the disk. */
const BYTES_EACH = 4096

/** Keys that are logged after a round. */
const SUSPECTS_MAX = 10
const SUSPECTS =
  'blobs that an earlier version kept have the length of their key, and are not what it is the hash of: wrong, unless they belong to ' +
  'instances with `isolate`. A read as content drops a wrong file. `remexec check --cas` lists all'

/** Minimum time between the starts of two rounds. */
const PERIOD_MS = 60 * 60_000

/**
 * Reads every blob again, in rounds at a limited rate, and compares it with its checksum and, where the key is the hash of the
 * content, with its digest. This finds bytes that decay on the disk, or were wrong when they were written, before a client needs them. A damaged blob is dropped and logged, and each round logs a summary.
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
    const first: string[] = []
    let [blobs, suspects] = [0, 0]
    for (const slot of catalog.index.slots()) {
      if (this.isStopped) return
      const located = catalog.at(slot)
      const { digest, storedBytes } = located
      // A result or an encoded blob seldom has the length in its key.
      const isSuspect =
        (await this.#check(located)) === 'unexplained' && storedBytes === digest.sizeBytes && !digest.isOwn
      if (isSuspect && ++suspects <= SUSPECTS_MAX) first.push(digest.key)
      blobs++
    }
    if (blobs === 0) return
    const damaged = catalog.damagedCount - before.damaged
    log.info('verified all blobs of a store', { blobs, bytes: this.#checkedBytes - before.bytes, damaged })
    if (suspects > 0) log.warn(SUSPECTS, { suspects, first: first.join(' ') })
  }

  async #check(located: Located): Promise<CheckOutcome> {
    const { inspection, log } = this.#parts
    const options = { pace: (bytes: number) => this.#take(bytes), hashes: true }
    try {
      if (located.kind === 'packed') return await inspection.checkPacked(located, options)
      if (located.kind === 'file') return await inspection.check(located, options)
      await this.#take(located.storedBytes + BYTES_EACH)
      return await inspection.checkInline(located)
    } catch (error) {
      if (!this.isStopped) log.warn('could not read a blob of the store', { blob: located.digest.key, error })
      return 'changed'
    }
  }

  /** Rejects once the store is closing, also within a large blob. */
  async #take(bytes: number): Promise<void> {
    await this.#pace.take(bytes)
    if (this.isStopped) throw new StatusError('CANCELLED', 'the store is being closed')
    this.#checkedBytes += bytes
  }
}
