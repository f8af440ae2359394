import { type Carrier, carriers } from './carriers.js'
import { type Cell, COUNTS, keyOf } from './cell.js'
import { reasonOf } from './left-out.js'
import { type LeftOutField, type Place, placesOf } from './places.js'
import { ALPHABETS, LETTER_WAYS, ORDERS, PLAIN_WAYS } from './ways.js'

const ofValue = (carrier: Carrier, place: Place): Cell[] => {
  // An entry of a list within a list is counted with the outer one.
  const counts: readonly (number | undefined)[] = place.depth === 1 ? COUNTS : [undefined]
  const letters = LETTER_WAYS[place.kind] ?? []
  const most = place.depth === 1 ? [undefined, COUNTS[3]] : [undefined]
  return [
    ...PLAIN_WAYS[place.kind].flatMap((way) => [
      ...counts.map((count) => ({ carrier, place, way, count })),
      ...(way === 'dropped' ? (ALPHABETS[place.kind] ?? []) : []).map((alphabet) => ({
        carrier,
        place,
        way,
        alphabet,
      })),
    ]),
    ...letters.flatMap(([way, alphabet]) => most.map((count) => ({ carrier, place, way, alphabet, count }))),
  ]
}

const ofList = (carrier: Carrier, place: Place): Cell[] => [
  ...[0, ...COUNTS].map((count) => ({ carrier, place, way: 'counted to a limit' as const, count })),
  { carrier, place, way: 'equal merged' as const },
  ...ORDERS.map((alphabet) => ({ carrier, place, way: 're-ordered' as const, alphabet })),
]

export interface Matrix {
  readonly cells: readonly Cell[]
  /** Cells that are not tried, and fields that have none, by reason. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>
}

/** The matrix, from the descriptors alone. */
export const matrixOf = (): Matrix => {
  const leftOut = new Map<string, string[]>()
  const leave = (what: string, reason: string): void => {
    leftOut.set(reason, [...(leftOut.get(reason) ?? []), what])
  }
  const cells = carriers.flatMap((carrier) => {
    const leaveField = ({ path, reason }: LeftOutField): void => leave(`${carrier.name} ${path}`, reason)
    const places = placesOf(carrier.type, leaveField)
    return places.flatMap((place) =>
      (place.kind === 'list' ? ofList(carrier, place) : ofValue(carrier, place)).filter(
        (cell) => cell.way !== 'swapped' || place.depth > 0 || hasSibling(place, places) || leaveAlone(cell, leave),
      ),
    )
  })
  const tried = cells.filter((cell) => {
    const reason = reasonOf(cell)
    if (reason !== undefined) leave(keyOf(cell).replaceAll('\t', ' '), reason)
    return reason === undefined
  })
  return { cells: tried, leftOut }
}

const parentOf = ({ path }: Place): string => path.slice(0, path.lastIndexOf('.') + 1)

const hasSibling = (place: Place, places: readonly Place[]): boolean =>
  places.some(
    (each) =>
      each !== place && each.kind === place.kind && each.depth === place.depth && parentOf(each) === parentOf(place),
  )

const leaveAlone = (cell: Cell, leave: (what: string, reason: string) => void): false => {
  leave(keyOf(cell).replaceAll('\t', ' '), 'there is no other field of this kind beside it to change places with')
  return false
}
