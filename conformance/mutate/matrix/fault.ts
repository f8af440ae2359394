import type { Any } from '../../wire/methods.js'
import type { Mutation } from '../mutation.js'
import { type Cell, keyOf } from './cell.js'
import { put, type Slot, slotsOf } from './slots.js'
import { type Alphabet, inOrder, isOf, type Order, type Way, withoutEqualContent, wrongly } from './ways.js'

/** Whether the fault of a cell has changed any message. */
export class Effect {
  changed = 0
}

/** The mutation that shows a cell. */
export const mutationOf = (cell: Cell, effect?: Effect): Mutation => ({
  name: keyOf(cell).replaceAll('\t', ' '),
  breaks: `${cell.carrier.name}: ${cell.place.path} ${cell.way}.`,
  caughtBy: [],
  tamper: () =>
    cell.carrier.on((message) => {
      const before = effect && JSON.stringify(message)
      spoil(message, cell)
      if (effect && JSON.stringify(message) !== before) effect.changed++
    }),
})

/** Makes a message wrong in place. */
export const spoil = (message: Any, { place, way, alphabet, count }: Cell): void => {
  const slots = slotsOf(message, place.path)
  if (place.kind === 'list') {
    for (const slot of slots) put(slot, listWrongly(slot.value ?? [], way, alphabet as Order, count))
    return
  }
  if (way === 'swapped') {
    swap(slots, alphabet as Alphabet | undefined, count)
    return
  }
  for (const slot of slots.filter((each) => isMeant(each, alphabet as Alphabet | undefined, way as Way, count)))
    put(slot, wrongly(slot.value, way as Exclude<Way, 'swapped'>, alphabet as Alphabet | undefined))
}

/** Plain ways with an alphabet concern values of it; ways of letters concern any value. */
const isMeant = (
  { index, value }: Slot,
  alphabet: Alphabet | undefined,
  way: Way,
  count: number | undefined,
): boolean => {
  if (count !== undefined && index !== count - 1) return false
  const isPlain = way === 'dropped' || way === 'cut'
  return !isPlain || alphabet === undefined || isOf(value, alphabet)
}

const swap = (slots: readonly Slot[], alphabet: Alphabet | undefined, count: number | undefined): void => {
  const [first] = slots
  if (slots.length === 1 && first && typeof first.key === 'string') {
    swapWithSibling(first)
    return
  }
  for (const [at, slot] of slots.entries()) {
    if (count !== undefined && slot.index !== count - 1) continue
    if (alphabet !== undefined && !isOf(slot.value, alphabet)) continue
    const other = [slots[at + 1], slots[at - 1]].find(
      (each) => each && JSON.stringify(each.value) !== JSON.stringify(slot.value),
    )
    if (other === undefined) continue
    put(slot, other.value)
    put(other, slot.value)
    return
  }
}

/** Outside of lists: with the next field that holds the same kind of value. */
const swapWithSibling = ({ owner, key, value }: Slot): void => {
  const names = Object.keys(owner)
  const kind = (each: Any): string =>
    each instanceof Uint8Array ? 'bytes' : Object.keys(Object(each)).sort().join() || typeof each
  const after = [...names.slice(names.indexOf(String(key)) + 1), ...names.slice(0, names.indexOf(String(key)))]
  const sibling = after.find(
    (name) => kind(owner[name]) === kind(value) && JSON.stringify(owner[name]) !== JSON.stringify(value),
  )
  if (sibling === undefined) return
  owner[key] = owner[sibling]
  owner[sibling] = value
}

const listWrongly = (list: readonly Any[], way: Cell['way'], order: Order, count = 0): Any[] => {
  if (way === 'counted to a limit') return list.slice(0, count)
  return way === 'equal merged' ? withoutEqualContent(list) : inOrder(list, order)
}
