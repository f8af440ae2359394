import { type Entries, KEPT, PINNED } from './entries.js'
import type { Promises } from './promises.js'
import { Recency } from './recency.js'
import { NONE, type Records } from './records.js'

/** Promised blobs that one search for a victim steps over: below a millisecond. The next search goes on. */
const STEPS_MAX = 4096
/** Kept blobs that one search looks at for one that nobody holds any more. */
const KEPT_STEPS = 16

/** When a victim is looked for. */
export interface Want {
  /** Whether there is no room; otherwise only what has been unused for `maxSeconds` may go. */
  readonly lacksRoom: boolean
  /** 0: nothing goes for its age. */
  readonly maxSeconds: number
  readonly nowS: number
}

/**
 * The order in which blobs are evicted: by their last use, those behind that somebody was promised, and none that is pinned. A slot is
 * in one of three places: in the order of use, among the old ones that a claim keeps, or pinned.
 */
export class EvictionOrder {
  readonly recency: Recency
  readonly #entries: Entries
  readonly #promises: Promises | undefined
  /** Old blobs that a claim keeps from eviction, until it has ended. */
  readonly #kept: Recency
  readonly #pinned = new Set<number>()

  constructor(records: Records, entries: Entries, promises: Promises | undefined) {
    this.recency = new Recency(records)
    this.#kept = new Recency(records)
    this.#entries = entries
    this.#promises = promises
  }

  /** Makes a blob the most recently used. */
  used(slot: number): void {
    if (!this.#entries.has(slot, KEPT | PINNED)) this.recency.moveToEnd(slot)
    else this.takeBack(slot)
  }

  /** Moves a kept blob back into the order of use. Others stay where they are. */
  takeBack(slot: number): void {
    if (!this.#entries.has(slot, KEPT)) return
    this.#kept.unlink(slot)
    this.#entries.set(slot, KEPT, false)
    this.recency.append(slot)
  }

  remove(slot: number): void {
    this.takeBack(slot)
    if (!this.#pinned.delete(slot)) this.recency.unlink(slot)
  }

  isPinned(slot: number): boolean {
    return this.#entries.has(slot, PINNED)
  }

  pin(slot: number): void {
    if (this.isPinned(slot)) return
    this.takeBack(slot)
    this.recency.unlink(slot)
    this.#pinned.add(slot)
    this.#entries.set(slot, PINNED, true)
  }

  /** Ends a pin; the blob is then the most recently used. False if there was none. */
  unpin(slot: number): boolean {
    if (!this.#pinned.delete(slot)) return false
    this.#entries.set(slot, PINNED, false)
    this.recency.append(slot)
    return true
  }

  /**
   * The blob that must go next, or NONE when none must or may. Those that nobody was promised go first. If there is no such blob, the
   * oldest promise to no live invocation is broken, then the oldest of all. With `refuse`, none is.
   */
  victim({ lacksRoom, maxSeconds, nowS }: Want): number {
    if (!lacksRoom && maxSeconds === 0) return NONE
    const promises = this.#promises
    const mayGo = (slot: number): boolean => lacksRoom || nowS - this.#entries.accessedOf(slot) >= maxSeconds
    if (promises === undefined) {
      const { oldest } = this.recency
      return oldest !== NONE && mayGo(oldest) ? oldest : NONE
    }
    const released = this.#released(promises, nowS)
    if (released !== NONE && mayGo(released)) return released
    for (let step = 0; step < STEPS_MAX; step++) {
      const { oldest } = this.recency
      if (oldest === NONE) return lacksRoom && promises.whenFull === 'break' ? this.#kept.oldest : NONE
      if (!mayGo(oldest)) return NONE
      if (!promises.isHeld(oldest, nowS)) {
        if (!lacksRoom || !this.#isRetained(oldest, nowS, promises)) return oldest
        if (promises.whenFull === 'refuse') return NONE
        // The blob just used, such as a new upload, is spared before those that builds hold.
        const isLast = oldest === this.recency.newest && this.#kept.oldest !== NONE
        return isLast ? this.#kept.oldest : oldest
      }
      this.recency.unlink(oldest)
      this.#entries.set(oldest, KEPT, true)
      this.#kept.append(oldest)
    }
    return NONE
  }

  /** Whether the eviction of a blob breaks a promise. */
  isPromised(slot: number, nowS: number): boolean {
    const promises = this.#promises
    return promises !== undefined && (promises.isHeld(slot, nowS) || this.#isRetained(slot, nowS, promises))
  }

  /** Whether a blob can be evicted without breaking a promise. Best effort: it looks at few. */
  hasFree(nowS: number): boolean {
    if (this.#promises !== undefined && this.#released(this.#promises, nowS) !== NONE) return true
    const { oldest } = this.recency
    return oldest !== NONE && !this.isPromised(oldest, nowS)
  }

  /** Whether the minimum retention of a blob has not passed. */
  #isRetained(slot: number, nowS: number, { retentionS }: Promises): boolean {
    return nowS - this.#entries.accessedOf(slot) < retentionS
  }

  /** A kept blob whose claim has ended; NONE if there is none among the next few. */
  #released(promises: Promises, nowS: number): number {
    for (let step = 0; step < KEPT_STEPS; step++) {
      const { oldest } = this.#kept
      if (oldest === NONE) return NONE
      if (!promises.isHeld(oldest, nowS) && !this.#isRetained(oldest, nowS, promises)) return oldest
      this.#kept.moveToEnd(oldest)
    }
    return NONE
  }
}
