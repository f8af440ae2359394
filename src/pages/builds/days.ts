import { counted, countText } from '../../base/quantities.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { toneOfOutcome } from './outcome.js'
import type { BuildRow } from './row.js'

const DAY_MS = 86_400_000

const numberOf = (ms: number): number => Math.floor(ms / DAY_MS)

/** The day of UTC on which a build began, as a number. */
export const dayOf = ({ startedMs }: Pick<BuildRow, 'startedMs'>): number => numberOf(startedMs)

/** The days of builds with a title for each: `Today, 28 Nov 2026 (UTC): 34 builds, 3 failed`. Yields the event loop. */
export const daysOf = async (rows: readonly BuildRow[], nowMs: number): Promise<ReadonlyMap<number, string>> => {
  const counts = new Map<number, { all: number; failed: number }>()
  await mappedInTurns(rows, (row) => {
    const day = dayOf(row)
    const of = counts.get(day) ?? { all: 0, failed: 0 }
    counts.set(day, of)
    of.all += 1
    if (toneOfOutcome(row.outcome) === 'bad') of.failed += 1
    return undefined
  })
  const today = numberOf(nowMs)
  return new Map(
    [...counts].map(([day, { all, failed }]) => [
      day,
      `${nameOf(day, today)}: ${counted(all, 'build')}${failed === 0 ? '' : `, ${countText(failed)} failed`}`,
    ]),
  )
}

const FORM = new Intl.DateTimeFormat('en-GB', {
  ...{ timeZone: 'UTC', weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
})
/** Beyond it there are no dates. */
const MAX_DAY = 100_000_000

const nameOf = (day: number, today: number): string => {
  const date = Math.abs(day) > MAX_DAY ? 'no date' : `${FORM.format(day * DAY_MS)} (UTC)`
  if (day === today) return `Today, ${date}`
  return day === today - 1 ? `Yesterday, ${date}` : date
}
