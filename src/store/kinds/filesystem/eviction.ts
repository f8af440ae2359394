import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.js'
import { ABSENT, type BlobIndex } from '../../index/blob-index.js'
import type { Located } from './located.js'

/** What eviction needs from the catalog. */
export interface Evictable {
  readonly index: BlobIndex
  at(slot: number): Located
  isCommitting(digest: Located['digest']): boolean
  /** Evicts a blob that has only a log record: takes effect at once and deletes nothing. */
  leave(slot: number): void
  /** Removes a blob and its file, permanently. Never rejects. */
  remove(located: Located): Promise<void>
}

/** Concurrent deletions: enough to keep the disk busy, few enough to leave the thread pool to calls. */
const UNLINKS_MAX = 16

/** Blobs evicted before yielding to the event loop: below a millisecond. */
const SLICE = 500

/** Deletes blobs beyond the limits in the background. No call waits for it. */
export class Eviction {
  readonly #catalog: Evictable
  readonly #clock: Clock
  #round = Promise.resolve()
  #isUnderWay = false
  #isStopped = false
  readonly #removals = new Set<Promise<void>>()

  constructor(catalog: Evictable, clock: Clock) {
    this.#catalog = catalog
    this.#clock = clock
  }

  start(): void {
    if (this.#isUnderWay || this.#isStopped) return
    this.#isUnderWay = true
    this.#round = this.#goOn()
  }

  /** Resolves when nothing is being deleted. What is still beyond the limits stays until the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#round
    await Promise.all(this.#removals)
  }

  async #goOn(): Promise<void> {
    try {
      for (let count = 1; this.#mayGoOn() && this.#evictNext(); count++) {
        if (count % SLICE === 0) await setImmediate()
      }
    } finally {
      this.#isUnderWay = false
    }
  }

  #mayGoOn(): boolean {
    return !this.#isStopped && this.#removals.size < UNLINKS_MAX
  }

  /** False when nothing must be evicted now. */
  #evictNext(): boolean {
    const { index } = this.#catalog
    const slot = index.victim()
    if (slot === ABSENT) return false
    // Nothing is deleted or recorded for a small blob, so a commit of it that is in flight loses nothing. To look for one
    // needs the digest, which costs as much as the rest.
    if (index.kindOf(slot) === 'bytes') {
      if (!index.evict(slot)) return true
      index.noteEviction(slot)
      this.#catalog.leave(slot)
      return true
    }
    const located = this.#catalog.at(slot)
    if (this.#catalog.isCommitting(located.digest)) {
      index.touch(slot, Math.ceil(this.#clock.now() / 1000))
      return false
    }
    if (!index.evict(slot)) return true
    index.noteEviction(slot)
    const removal = this.#catalog.remove(located).finally(() => {
      this.#removals.delete(removal)
      this.start()
    })
    this.#removals.add(removal)
    return true
  }
}
