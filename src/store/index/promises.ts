import type { EvictionPolicy } from '../../config/config.js'
import type { Call } from '../../rpc/call.js'
import type { Invocations } from '../../rpc/invocations.js'
import { type IndexMemory, ownMemory } from './memory.js'
import { CHUNK_SLOTS } from './records.js'

export interface PromiseOptions {
  /** How long a blob is kept at least after its last use. */
  readonly retentionS: number
  /** When there is no room: break the oldest promise, or refuse uploads. */
  readonly whenFull: 'break' | 'refuse'
  readonly invocations: Invocations
}

/** The part of a call that says how long its blobs are kept. */
export type Claimant = Pick<Call, 'invocation' | 'keepForMs'>

/** What a call claims for each blob that it uses. Made once for a batch. */
export interface Claim {
  /** The number of its invocation; 0 if it has none. */
  readonly number: number
  /** Minutes since the epoch; 0 if the minimum retention is enough. */
  readonly untilMinute: number
}

/** Shares of `max_bytes` that live invocations may hold: one of them, and all together. */
const ONE_SHARE = 0.25
const ALL_SHARE = 0.8

/** Two words for each slot, made for the slots in use when the first claim comes: 8 bytes a blob at most. */
export const WORDS_EACH = 2
export const OWNER = 0
export const UNTIL = 1
const SLOT_MASK = CHUNK_SLOTS - 1
const CHUNK_SHIFT = Math.log2(CHUNK_SLOTS)

/**
 * Which blobs of an index are promised to clients. The minimum retention needs no memory: it compares the time of last
 * use. A claim beyond it is two words a slot: until when, and the owner. An owner above 0 is one invocation. An owner
 * -n stands for all invocations up to n, for a blob that several live ones use; it keeps rather too much than too little.
 */
export class Promises {
  readonly retentionS: number
  readonly whenFull: 'break' | 'refuse'
  readonly #invocations: Invocations
  readonly #maxBytes: number
  readonly #words: (Int32Array | undefined)[] = []
  /** Bytes held by each owner. */
  readonly #held = new Map<number, number>()
  #heldBytes = 0
  #sweptS = 0
  readonly #window: UseWindow
  readonly #memory: IndexMemory
  brokenCount = 0

  constructor(
    { retentionS, whenFull, invocations }: PromiseOptions,
    policy: EvictionPolicy,
    memory: IndexMemory = ownMemory,
  ) {
    this.#memory = memory
    const { max_seconds: maxS, max_bytes: maxBytes } = policy
    // Who lets blobs expire sooner promises no more than that.
    this.retentionS = maxS > 0 ? Math.min(maxS, retentionS) : retentionS
    this.whenFull = whenFull
    this.#invocations = invocations
    this.#maxBytes = maxBytes > 0 ? maxBytes : Number.POSITIVE_INFINITY
    this.#window = new UseWindow(this.retentionS)
  }

  /** Undefined if the call claims no more than the minimum retention. */
  claimOf({ invocation, keepForMs = 0 }: Claimant, nowS: number): Claim | undefined {
    const isLonger = keepForMs > this.retentionS * 1000
    if (invocation === undefined && !isLonger) return undefined
    const untilMinute = isLonger ? Math.ceil((nowS + keepForMs / 1000) / 60) : 0
    return { number: invocation?.number ?? 0, untilMinute }
  }

  /** Bytes used within the minimum retention. */
  promisedBytes(nowS: number): number {
    return this.#window.bytesAt(nowS)
  }

  /** Bytes that live invocations hold, whenever they were used. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** All that one invocation may hold. */
  get oneBuildBytes(): number {
    return ONE_SHARE * this.#maxBytes
  }

  /** Whether an upload must be refused: what is promised would take more than 80 % of the store. */
  isFullFor(sizeBytes: number, nowS: number): boolean {
    return this.whenFull === 'refuse' && this.promisedBytes(nowS) + sizeBytes > ALL_SHARE * this.#maxBytes
  }

  /** A blob of this size was used at a time, before at another, or is new. */
  used(beforeS: number, nowS: number, bytes: number): void {
    this.#window.add(beforeS, -bytes)
    this.#window.add(nowS, bytes)
  }

  /** The size of a blob changed that was used at a time. */
  grew(usedS: number, bytes: number): void {
    this.#window.add(usedS, bytes)
  }

  /** Whether a blob may not be evicted although its minimum retention has passed. */
  isHeld(slot: number, nowS: number): boolean {
    const words = this.#words[slot >>> CHUNK_SHIFT]
    if (words === undefined) return false
    const at = (slot & SLOT_MASK) * WORDS_EACH
    return (words[at + UNTIL] as number) * 60 > nowS || this.#isAlive(words[at + OWNER] as number)
  }

  /** The id of the invocation that last used a blob; undefined if it is unknown or there are several. */
  holderOf(slot: number): string | undefined {
    const owner = this.#words[slot >>> CHUNK_SHIFT]?.[(slot & SLOT_MASK) * WORDS_EACH + OWNER] ?? 0
    return owner > 0 ? this.#invocations.idOf(owner) : undefined
  }

  /** Whether a claim holds a blob already. The usual case, so it reads as little as possible. */
  isHeldBy(slot: number, { number, untilMinute }: Claim): boolean {
    const words = this.#words[slot >>> CHUNK_SHIFT]
    if (words === undefined) return false
    const at = (slot & SLOT_MASK) * WORDS_EACH
    const owner = words[at] as number
    return (owner === number || number === 0 || -owner >= number) && (words[at + UNTIL] as number) >= untilMinute
  }

  /** Keeps a blob for a claim. Beyond the bounds of leases it only has the minimum retention. */
  hold(slot: number, bytes: number, { number, untilMinute }: Claim, nowS: number): void {
    const chunk = slot >>> CHUNK_SHIFT
    const words = this.#words[chunk] ?? this.#memory.words('claims', chunk, CHUNK_SLOTS * WORDS_EACH)
    this.#words[chunk] = words
    const at = (slot & SLOT_MASK) * WORDS_EACH
    if (untilMinute > (words[at + UNTIL] as number)) words[at + UNTIL] = untilMinute
    const before = words[at + OWNER] as number
    if (number === 0 || before === number || -before >= number) return
    const isShared = before !== 0 && this.#isAlive(before)
    const owner = isShared ? -Math.max(number, Math.abs(before)) : number
    this.#give(before, -bytes)
    words[at + OWNER] = 0
    if (!this.#mayHold(owner, bytes, nowS)) return
    this.#give(owner, bytes)
    words[at + OWNER] = owner
  }

  /** Forgets a blob that is removed or replaced. */
  forget(slot: number, bytes: number): void {
    const words = this.#words[slot >>> CHUNK_SHIFT]
    if (words === undefined) return
    const at = (slot & SLOT_MASK) * WORDS_EACH
    this.#give(words[at + OWNER] as number, -bytes)
    words[at + OWNER] = 0
    words[at + UNTIL] = 0
  }

  #isAlive(owner: number): boolean {
    return owner > 0 ? this.#invocations.isAlive(owner) : owner < 0 && this.#invocations.oldest <= -owner
  }

  #mayHold(owner: number, bytes: number, nowS: number): boolean {
    const isWithin = (): boolean => this.#heldBytes + bytes <= ALL_SHARE * this.#maxBytes
    if (!isWithin()) this.#sweep(nowS)
    if (owner > 0 && (this.#held.get(owner) ?? 0) + bytes > this.oneBuildBytes) return false
    return isWithin()
  }

  #give(owner: number, bytes: number): void {
    const before = this.#held.get(owner)
    if (owner === 0 || (bytes < 0 && before === undefined)) return
    this.#held.set(owner, (before ?? 0) + bytes)
    this.#heldBytes += bytes
  }

  /** Gives back what invocations held that have ended. At most once a second, and by the owner of the index. */
  #sweep(nowS: number): void {
    if (this.#sweptS === nowS) return
    this.sweep(nowS)
  }

  sweep(nowS: number): void {
    this.#sweptS = nowS
    for (const [owner, bytes] of this.#held) {
      if (this.#isAlive(owner)) continue
      this.#held.delete(owner)
      this.#heldBytes -= bytes
    }
  }
}

/** The bytes used in each of the last minutes, and their sum over the retention. */
class UseWindow {
  readonly #minutes: Float64Array
  /** The last minute that the window covers. */
  #last = 0
  #bytes = 0

  constructor(retentionS: number) {
    this.#minutes = new Float64Array(Math.ceil(retentionS / 60) + 1)
  }

  add(usedS: number, bytes: number): void {
    const minute = Math.floor(usedS / 60)
    if (minute > this.#last) this.#move(minute)
    if (minute <= this.#last - this.#minutes.length) return
    const at = minute % this.#minutes.length
    this.#minutes[at] = (this.#minutes[at] as number) + bytes
    this.#bytes += bytes
  }

  bytesAt(nowS: number): number {
    const minute = Math.floor(nowS / 60)
    if (minute > this.#last) this.#move(minute)
    return this.#bytes
  }

  /** Forgets the minutes that leave the window. */
  #move(to: number): void {
    const count = this.#minutes.length
    for (let minute = Math.max(this.#last + 1, to - count + 1); minute <= to; minute++) {
      const at = minute % count
      this.#bytes -= this.#minutes[at] as number
      this.#minutes[at] = 0
    }
    this.#last = to
  }
}
