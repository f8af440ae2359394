import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../base/clock.js'
import { ABSENT, type BlobIndex } from '../index/blob-index.js'
import type { Located } from './located.js'

/** What eviction needs of the shelf. */
export interface Evictable {
  readonly index: BlobIndex
  at(slot: number): Located
  isCommitting(digest: Located['digest']): boolean
  /** Takes leave of a blob that is only in the log: visible at once, and nothing is to be deleted. */
  leave(located: Located): void
  /** Removes a blob for good, and its file. Never rejects. */
  remove(located: Located): Promise<void>
}

/** Deletions under way at a time: enough to keep the disk busy, few enough to leave the thread pool to the calls. */
const UNLINKS_MAX = 16

/** Blobs evicted between two breaths: below a millisecond. */
const SLICE = 500

/** Deletes what the limits no longer allow, behind the back of every call. */
export class Eviction {
  readonly #shelf: Evictable
  readonly #clock: Clock
  #round = Promise.resolve()
  #isUnderWay = false
  #unlinkCount = 0

  constructor(shelf: Evictable, clock: Clock) {
    this.#shelf = shelf
    this.#clock = clock
  }

  start(): void {
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    this.#round = this.#goOn()
  }

  async idle(): Promise<void> {
    await this.#round
  }

  async #goOn(): Promise<void> {
    try {
      for (let count = 1; this.#unlinkCount < UNLINKS_MAX && this.#evictNext(); count++) {
        if (count % SLICE === 0) await setImmediate()
      }
    } finally {
      this.#isUnderWay = false
    }
  }

  /** False when nothing has to go now. */
  #evictNext(): boolean {
    const { index } = this.#shelf
    const slot = index.victim()
    if (slot === ABSENT) return false
    const located = this.#shelf.at(slot)
    if (this.#shelf.isCommitting(located.digest)) {
      index.touch(slot, Math.ceil(this.#clock.now() / 1000))
      return false
    }
    index.noteEviction(slot)
    if (located.isInline) this.#shelf.leave(located)
    else {
      this.#unlinkCount++
      void this.#shelf.remove(located).finally(() => {
        this.#unlinkCount--
        this.start()
      })
    }
    return true
  }
}
