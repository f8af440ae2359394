import type { Holder } from './holder.js'
import type { Reservation } from './reservation.js'

/** A reservation that may be dropped. */
export interface Droppable {
  readonly reservation: Reservation
  readonly drop: () => void
}

interface Place {
  readonly droppable: Droppable
  readonly line: Line
  older: Place | undefined
  newer: Place | undefined
}

/** A linked list. A Map would search through its removed entries for the oldest one. */
class Line {
  #oldest: Place | undefined
  #newest: Place | undefined

  get oldest(): Droppable | undefined {
    return this.#oldest?.droppable
  }

  append(droppable: Droppable): Place {
    const place: Place = { droppable, line: this, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = place
    else this.#newest.newer = place
    this.#newest = place
    return place
  }

  /** Clears the links of the place: an old one would otherwise keep its neighbours from the collector. */
  remove(place: Place): void {
    const { older, newer } = place
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    place.older = undefined
    place.newer = undefined
  }
}

/** The droppable reservations of a kind, by age: of all holders, and of each. Every operation is O(1). */
export class DropOrder {
  readonly #all = new Line()
  readonly #byHolder = new Map<Holder, Line>()
  readonly #places = new Map<Reservation, readonly Place[]>()

  get oldest(): Droppable | undefined {
    return this.#all.oldest
  }

  oldestOf(holder: Holder): Droppable | undefined {
    return this.#byHolder.get(holder)?.oldest
  }

  add(droppable: Droppable): void {
    const { reservation } = droppable
    const own = this.#byHolder.get(reservation.holder) ?? new Line()
    this.#byHolder.set(reservation.holder, own)
    this.#places.set(reservation, [this.#all.append(droppable), own.append(droppable)])
  }

  /** Does nothing for a reservation that cannot be dropped. */
  remove(reservation: Reservation): void {
    const places = this.#places.get(reservation)
    if (places === undefined) return
    this.#places.delete(reservation)
    for (const place of places) place.line.remove(place)
    if (this.oldestOf(reservation.holder) === undefined) this.#byHolder.delete(reservation.holder)
  }
}
