import { setImmediate } from 'node:timers/promises'

const DIGITS = 1 << 16
/** Steps between two breaths: a tenth of a millisecond. */
const SLICE = 1 << 14

/** The positions of 32-bit keys from the least key to the greatest, equal ones in their order. A radix sort that pauses. */
export const ascending = async (keys: Uint32Array): Promise<Uint32Array> => {
  let order: Uint32Array = new Uint32Array(keys.length)
  for (let at = 0; at < order.length; at++) order[at] = at
  for (const shift of [0, 16]) order = await byDigit(keys, order, shift)
  return order
}

const byDigit = async (keys: Uint32Array, order: Uint32Array, shift: number): Promise<Uint32Array> => {
  const digitOf = (at: number): number => ((keys[order[at] as number] as number) >>> shift) % DIGITS
  const starts = new Uint32Array(DIGITS)
  for (let at = 0; at < order.length; at++) {
    countUp(starts, digitOf(at))
    if (at % SLICE === 0) await setImmediate()
  }
  let start = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = starts[digit] as number
    starts[digit] = start
    start += count
  }
  const sorted = new Uint32Array(order.length)
  for (let at = 0; at < order.length; at++) {
    sorted[countUp(starts, digitOf(at))] = order[at] as number
    if (at % SLICE === 0) await setImmediate()
  }
  return sorted
}

/** Answers what it was. */
const countUp = (counts: Uint32Array, at: number): number => {
  const count = counts[at] as number
  counts[at] = count + 1
  return count
}
