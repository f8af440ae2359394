import type { Carrier } from './carriers.js'
import type { Place } from './places.js'
import type { Alphabet, ListWay, Order, Way } from './ways.js'

/** The number of an entry that is wrong alone, or the number of entries after which a list ends. */
export const COUNTS = [1, 2, 1_000, 1_500] as const

/** One way for one place to be wrong. */
export interface Cell {
  readonly carrier: Carrier
  readonly place: Place
  readonly way: Way | ListWay
  readonly alphabet?: Alphabet | Order | undefined
  /** Absent: every entry. */
  readonly count?: number | undefined
}

export const keyOf = ({ carrier, place, way, alphabet, count }: Cell): string =>
  [carrier.name, place.path, way, alphabet ?? 'any', count === undefined ? 'all' : String(count)].join('\t')
