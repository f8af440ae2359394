import type { Clock } from '../../base/clock.js'
import { PARKED_BYTES } from '../../ledger/kinds.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Reservation } from '../../ledger/reservation.js'

/** An interrupted upload, as the ledger counts it. */
export interface Interrupted {
  readonly instanceName: string
  readonly receivedBytes: number
  /** How long it is kept, in ms. */
  readonly parkedForMs: number
}

interface Parked {
  readonly reservation: Reservation
  readonly untilMs: number
}

const SWEEP_MS = 1000

/** Keeps interrupted uploads for a while. One is dropped when its time is over, or newer ones of its instance need its share of the ledger. */
export class Parking<Item> {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #drop: (item: Item) => void
  /** Oldest first. */
  readonly #parked = new Map<Item, Parked>()
  #stopSweep: (() => void) | undefined

  /** `drop` is called when an item has left because of a bound or its time. */
  constructor(ledger: Ledger, clock: Clock, drop: (item: Item) => void) {
    this.#ledger = ledger
    this.#clock = clock
    this.#drop = drop
  }

  /** Oldest first. */
  items(): IterableIterator<Item> {
    return this.#parked.keys()
  }

  /** False if the ledger has no room. */
  add(item: Item, { instanceName, receivedBytes, parkedForMs }: Interrupted): boolean {
    const holder = this.#ledger.instance(instanceName)
    const { parked } = this.#ledger.kinds
    const reservation = parked.reserve(holder, receivedBytes + PARKED_BYTES, () => this.#leave(item))
    if (reservation === undefined) return false
    this.#parked.set(item, { reservation, untilMs: this.#clock.now() + parkedForMs })
    this.#sweep()
    if (this.#parked.size > 0) this.#stopSweep ??= this.#clock.every(SWEEP_MS, () => this.#sweep())
    return true
  }

  /** Its caller has it from now on. */
  remove(item: Item): void {
    const parked = this.#parked.get(item)
    if (parked === undefined) return
    this.#parked.delete(item)
    parked.reservation.release()
    if (this.#parked.size > 0) return
    this.#stopSweep?.()
    this.#stopSweep = undefined
  }

  #leave(item: Item): void {
    this.remove(item)
    this.#drop(item)
  }

  #sweep(): void {
    for (const [item, { untilMs }] of this.#parked) if (untilMs <= this.#clock.now()) this.#leave(item)
  }
}
