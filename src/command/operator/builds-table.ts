import { timeText } from '../../base/quantities.js'
import type { Console } from '../command.js'
import { table } from './table.js'

/** The latest builds, of as many as there are. */
export interface SomeBuilds<Build> {
  readonly count: number
  readonly builds: readonly Build[]
}

export const printBuilds = <Build>(
  console: Console,
  { count, builds }: SomeBuilds<Build>,
  head: readonly string[],
  rowOf: (build: Build) => readonly string[],
): void => {
  const more = count - builds.length
  console.print(count === 0 ? NONE : table(head, builds.map(rowOf)))
  if (more > 0) console.print(`and ${more} more\n`)
}

const NONE = 'no builds yet, or none of an instance in which you may `read_ac`\n'

/** What every list of builds says of one. */
export const cellsOf = ({
  startedAt = '',
  tookMs,
  command,
  patterns,
}: {
  readonly startedAt?: string
  readonly tookMs?: number
  readonly command?: string
  readonly patterns: readonly string[]
}) => ({
  started: `${startedAt.slice(0, 19)}Z`,
  took: tookMs === undefined ? '' : timeText(tookMs),
  what: [command, ...patterns].filter(Boolean).join(' '),
})

/** Cells for numbers that may not be known. */
export const countCells = (...counts: readonly (number | undefined)[]): readonly string[] =>
  counts.map((count) => (count === undefined ? '' : String(count)))
