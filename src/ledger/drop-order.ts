import type { Holder } from './holder.js'
import type { Reservation } from './reservation.js'

/** A reservation that may be dropped. */
export interface Droppable {
  readonly reservation: Reservation
  readonly drop: () => void
}

interface Item {
  readonly droppable: Droppable
  readonly list: List
  older: Item | undefined
  newer: Item | undefined
}

/** A linked list. A Map would search through its removed entries for the oldest one. */
class List {
  #oldest: Item | undefined
  #newest: Item | undefined

  get oldest(): Droppable | undefined {
    return this.#oldest?.droppable
  }

  append(droppable: Droppable): Item {
    const item: Item = { droppable, list: this, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = item
    else this.#newest.newer = item
    this.#newest = item
    return item
  }

  /** Clears the links of the item: an old one would otherwise keep its neighbours from the collector. */
  remove(item: Item): void {
    const { older, newer } = item
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    item.older = undefined
    item.newer = undefined
  }
}

/** The droppable reservations of a kind, by age: of all holders, and of each. Every operation is O(1). */
export class DropOrder {
  readonly #all = new List()
  readonly #byHolder = new Map<Holder, List>()
  readonly #items = new Map<Reservation, readonly Item[]>()

  get oldest(): Droppable | undefined {
    return this.#all.oldest
  }

  oldestOf(holder: Holder): Droppable | undefined {
    return this.#byHolder.get(holder)?.oldest
  }

  add(droppable: Droppable): void {
    const { reservation } = droppable
    const ofHolder = this.#byHolder.get(reservation.holder) ?? new List()
    this.#byHolder.set(reservation.holder, ofHolder)
    this.#items.set(reservation, [this.#all.append(droppable), ofHolder.append(droppable)])
  }

  /** Does nothing for a reservation that cannot be dropped. */
  remove(reservation: Reservation): void {
    const items = this.#items.get(reservation)
    if (items === undefined) return
    this.#items.delete(reservation)
    for (const item of items) item.list.remove(item)
    if (this.oldestOf(reservation.holder) === undefined) this.#byHolder.delete(reservation.holder)
  }
}
