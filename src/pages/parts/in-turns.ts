import { TimeSlices } from '../../work/time-slices.js'

const SLICE_MS = 5
/** Rows between two looks at the clock. */
const STRIDE = 128
/** Rows that are sorted at once: a millisecond. */
const RUN = 1024

/** One for all readers, so that many of them do not make a turn longer. */
const shared = new TimeSlices(SLICE_MS)

type Pauses = Pick<TimeSlices, 'step'>

/** The rows that `take` returns for each of `items`; those that are undefined are left out. Yields the event loop. */
export const mappedInTurns = async <Item, Row>(
  items: Iterable<Item>,
  take: (item: Item) => Row | undefined,
  pauses: Pauses = shared,
): Promise<Row[]> => {
  const rows: Row[] = []
  let taken = 0
  for (const item of items) {
    const row = take(item)
    if (row !== undefined) rows.push(row)
    if (++taken % STRIDE !== 0) continue
    const pause = pauses.step()
    if (pause !== undefined) await pause
  }
  return rows
}

/** `take` of each item, where each takes long. Yields the event loop. */
export const eachInTurns = async <Item, Row>(
  items: Iterable<Item>,
  take: (item: Item) => Row,
  pauses: Pauses = shared,
): Promise<Row[]> => {
  const rows: Row[] = []
  for (const item of items) {
    rows.push(take(item))
    const pause = pauses.step()
    if (pause !== undefined) await pause
  }
  return rows
}

/** `rows` in order; equal ones keep theirs. Yields the event loop, as no sort of the language does. */
export const sortedInTurns = async <Row>(
  rows: readonly Row[],
  compare: (a: Row, b: Row) => number,
  pauses: Pauses = shared,
): Promise<readonly Row[]> => {
  let runs: (readonly Row[])[] = []
  for (let at = 0; at < rows.length; at += RUN) {
    runs.push(rows.slice(at, at + RUN).sort(compare))
    const pause = pauses.step()
    if (pause !== undefined) await pause
  }
  while (runs.length > 1) {
    const merged: (readonly Row[])[] = []
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await mergedInTurns(runs[at] ?? [], runs[at + 1] ?? [], compare, pauses))
    runs = merged
  }
  return runs[0] ?? []
}

const mergedInTurns = async <Row>(
  first: readonly Row[],
  second: readonly Row[],
  compare: (a: Row, b: Row) => number,
  pauses: Pauses,
): Promise<readonly Row[]> => {
  const merged: Row[] = []
  let [one, other] = [0, 0]
  while (one < first.length && other < second.length) {
    const [a, b] = [first[one] as Row, second[other] as Row]
    if (compare(a, b) <= 0) {
      merged.push(a)
      one++
    } else {
      merged.push(b)
      other++
    }
    if (merged.length % STRIDE !== 0) continue
    const pause = pauses.step()
    if (pause !== undefined) await pause
  }
  return merged.concat(first.slice(one), second.slice(other))
}
