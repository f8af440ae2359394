import { cancellation, whenAborted } from '../base/cancellation.js'
import { StatusError } from '../base/status-error.js'
import { guardedTimeout } from '../base/timers.js'
import { DropOrder } from './drop-order.js'
import type { Holder } from './holder.js'
import type { KindFacts, Rule } from './kinds.js'
import { type Counter, Reservation } from './reservation.js'
import { OwnTotal, type Total } from './totals.js'

/** Bound on waiting reservations: later ones would not be served in time. */
const MAX_WAITING = 10_000
/** How often a thread with waiting reservations looks whether another thread gave bytes back. */
const LOOK_MS = 10

interface Waiting {
  readonly holder: Holder
  readonly sizeBytes: number
  readonly begin: (reservation: Reservation) => void
}

/** One kind of memory that the process holds for clients: its size, its holders and its bounds. */
export class Kind implements Counter {
  readonly name: string
  readonly maxBytes: number
  readonly rule: Rule
  readonly #number: number
  readonly #total: Total
  readonly #droppable = new DropOrder()
  readonly #waiting = new Set<Waiting>()
  #isServing = false
  /** A waiting reservation does not fit below the bound, so that all behind it wait. */
  #isFull = false
  #look: NodeJS.Timeout | undefined

  /** `number` is its place among the kinds of a ledger. */
  constructor(name: string, number: number, { maxBytes, rule }: KindFacts, total: Total = new OwnTotal()) {
    this.name = name
    this.maxBytes = maxBytes
    this.rule = rule
    this.#number = number
    this.#total = total
  }

  /** Of all threads of the process. */
  get heldBytes(): number {
    return this.#total.heldBytes
  }

  /** How often a bound was reached: a reservation was rejected, had to wait, or something older was dropped for it. */
  get limitedCount(): number {
    return this.#total.limitedCount
  }

  /**
   * Undefined, with nothing reserved, beyond a bound. `drop` must free the bytes at once; it is called at most once.
   */
  reserve(holder: Holder, sizeBytes: number, drop?: () => void): Reservation | undefined {
    if (!this.take(holder, sizeBytes)) return undefined
    const reservation = new Reservation(this, holder, sizeBytes)
    if (drop !== undefined) this.#droppable.add({ reservation, drop })
    return reservation
  }

  /** `reserve` that throws RESOURCE_EXHAUSTED beyond a bound. */
  reserveOrThrow(holder: Holder, sizeBytes: number): Reservation {
    const reservation = this.reserve(holder, sizeBytes)
    if (reservation === undefined) throw this.exhausted()
    return reservation
  }

  /**
   * Resolves once there is room. A holder at its own bound does not delay others. Rejects with CANCELLED when the
   * signal aborts, and with RESOURCE_EXHAUSTED when the bytes can never fit or the queue is full.
   */
  async whenRoom(holder: Holder, sizeBytes: number, signal: AbortSignal): Promise<Reservation> {
    if (signal.aborted) throw cancellation(signal)
    if (sizeBytes > this.boundOf(holder) || this.#waiting.size >= MAX_WAITING) throw this.exhausted()
    if (this.#waiting.size === 0 && this.#tryToCount(holder, sizeBytes)) return new Reservation(this, holder, sizeBytes)
    this.#total.limited()
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting)
        reject(cancellation(signal))
        // It may have been the one that the others wait behind.
        if (this.heldBytes + sizeBytes > this.maxBytes) this.#serve()
      }
      const begin = (reservation: Reservation): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(reservation)
      }
      const waiting = { holder, sizeBytes, begin }
      whenAborted(signal, giveUp)
      this.#waiting.add(waiting)
      // The others wait on, because nothing was released.
      if (!this.#isFull) this.#tryToServe(waiting)
      this.#lookAgain()
    })
  }

  /** Counts bytes that the caller returns with `give`. False, with nothing counted, beyond a bound. */
  take(holder: Holder, sizeBytes: number): boolean {
    while (!this.#tryToCount(holder, sizeBytes)) {
      this.#total.limited()
      if (!this.#dropOldest(holder, sizeBytes)) return false
    }
    return true
  }

  give(holder: Holder, sizeBytes: number): void {
    this.#total.give(sizeBytes)
    this.#countHolders(holder, -sizeBytes)
    if (this.#waiting.size > 0) this.#serve()
  }

  /** Only for `Reservation`. */
  released(reservation: Reservation): void {
    this.#droppable.remove(reservation)
  }

  exhausted(): StatusError {
    const reason = `the memory limit of the server for ${this.name} is reached`
    return new StatusError('RESOURCE_EXHAUSTED', `${reason}: try again later`)
  }

  #tryToCount(holder: Holder, sizeBytes: number): boolean {
    if (!this.#fitsHolder(holder, sizeBytes) || !this.#total.tryAdd(sizeBytes, this.maxBytes)) return false
    this.#countHolders(holder, sizeBytes)
    return true
  }

  #fitsHolder(holder: Holder, sizeBytes: number): boolean {
    for (let at: Holder | undefined = holder; at !== undefined; at = at.parent) {
      if (at.heldBytes(this.#number) + sizeBytes > at.share * this.maxBytes) return false
    }
    return true
  }

  /** The maximum that a holder may use. */
  boundOf(holder: Holder): number {
    let share = 1
    for (let at: Holder | undefined = holder; at !== undefined; at = at.parent) share = Math.min(share, at.share)
    return share * this.maxBytes
  }

  #countHolders(holder: Holder, byBytes: number): void {
    for (let at: Holder | undefined = holder; at !== undefined; at = at.parent) at.count(this.#number, byBytes)
  }

  /** Drops the oldest reservation: of this holder if it is at its own bound, else of any. */
  #dropOldest(holder: Holder, sizeBytes: number): boolean {
    if (sizeBytes > this.boundOf(holder)) return false
    const isOwn = !this.#fitsHolder(holder, sizeBytes)
    const oldest = isOwn ? this.#droppable.oldestOf(holder) : this.#droppable.oldest
    if (oldest === undefined) return false
    oldest.reservation.release()
    oldest.drop()
    return true
  }

  /** Serves waiting reservations in order, but skips holders at their own bound. */
  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    this.#isFull = false
    for (const waiting of this.#waiting) {
      this.#tryToServe(waiting)
      if (this.#isFull) break
    }
    this.#isServing = false
  }

  #tryToServe(waiting: Waiting): void {
    const { holder, sizeBytes, begin } = waiting
    if (this.heldBytes + sizeBytes > this.maxBytes) {
      this.#isFull = true
      return
    }
    if (!this.#tryToCount(holder, sizeBytes)) return
    this.#waiting.delete(waiting)
    begin(new Reservation(this, holder, sizeBytes))
  }

  /** No thread tells the others when it gives bytes back. */
  #lookAgain(): void {
    if (!this.#total.isShared || this.#waiting.size === 0 || this.#look !== undefined) return
    this.#look = guardedTimeout(() => {
      this.#look = undefined
      this.#serve()
      this.#lookAgain()
    }, LOOK_MS).unref()
  }
}
