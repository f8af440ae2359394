import type { Holder } from './holder.js'

/** What a reservation needs from its kind. */
export interface Counter {
  take(holder: Holder, sizeBytes: number): boolean
  give(holder: Holder, sizeBytes: number): void
  released(reservation: Reservation): void
}

/** Bytes held for a holder until `release`. */
export class Reservation {
  readonly #kind: Counter
  readonly holder: Holder
  #sizeBytes: number
  #isReleased = false

  /** Only `Kind` creates reservations. */
  constructor(kind: Counter, holder: Holder, sizeBytes: number) {
    this.#kind = kind
    this.holder = holder
    this.#sizeBytes = sizeBytes
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Reserves more. False, with nothing changed, beyond a bound. */
  grow(byBytes: number): boolean {
    if (this.#isReleased || !this.#kind.take(this.holder, byBytes)) return false
    // To make room, the kind may have dropped this very reservation.
    if (this.#isReleased) {
      this.#kind.give(this.holder, byBytes)
      return false
    }
    this.#sizeBytes += byBytes
    return true
  }

  /** Returns all but `sizeBytes`. */
  shrinkTo(sizeBytes: number): void {
    if (this.#isReleased || sizeBytes >= this.#sizeBytes) return
    const byBytes = this.#sizeBytes - sizeBytes
    this.#sizeBytes = sizeBytes
    this.#kind.give(this.holder, byBytes)
  }

  /** Idempotent. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#kind.released(this)
    this.#kind.give(this.holder, this.#sizeBytes)
  }
}
