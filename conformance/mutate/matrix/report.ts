import { type Cell, keyOf } from './cell.js'
import type { Fate } from './trial.js'

/** `conformance/matrix.md`. */
export const reportOf = (
  cells: readonly Cell[],
  leftOut: ReadonlyMap<string, readonly string[]>,
  fates: ReadonlyMap<string, Fate>,
): string => {
  const noticed = cells.filter((cell) => fates.get(keyOf(cell))?.row !== undefined)
  const untried = cells.filter((cell) => !fates.has(keyOf(cell)))
  const open = cells.filter((cell) => fates.has(keyOf(cell)) && fates.get(keyOf(cell))?.row === undefined)
  const left = [...leftOut.values()].reduce((sum, list) => sum + list.length, 0)
  const share = ((noticed.length / Math.max(1, noticed.length + open.length)) * 100).toFixed(1)
  return [
    '# The matrix: places, ways to be wrong, counts, alphabets',
    '',
    'Written by `npx tsx conformance/mutate/matrix/main.ts grpc://HOST:PORT`. Do not edit.',
    '',
    'A program reads the descriptors of the protocol and lists every field that carries content or a name, on each message that',
    'carries it. A cell is a field, a way to be wrong, an alphabet, and the entry of a list that is wrong, or after which it ends.',
    'Each cell has a mutation, made by the program too. The row named in `mutate/matrix/cells.tsv` was the first to notice it.',
    '',
    '| | cells |',
    '| --- | ---: |',
    `| noticed | ${noticed.length} |`,
    `| not noticed | ${open.length} |`,
    `| share noticed of those that were tried | ${share} % |`,
    `| not tried yet, each of which takes an execution | ${untried.length} |`,
    `| left out, with a reason | ${left} |`,
    '',
    '## By message',
    '',
    '| message | places | cells | noticed | rows |',
    '| --- | ---: | ---: | ---: | --- |',
    ...byCarrier(cells, fates),
    '',
    '## By way',
    '',
    '| way | alphabet | cells | noticed |',
    '| --- | --- | ---: | ---: |',
    ...grouped(cells, fates, ({ way, alphabet }) => `${way} | ${alphabet ?? 'any'}`),
    '',
    '## By count',
    '',
    'A number is that of the one entry that is wrong, or of the entries after which the list ends.',
    '',
    '| count | cells | noticed |',
    '| --- | ---: | ---: |',
    ...grouped(cells, fates, ({ count }) => (count === undefined ? 'every entry' : count.toLocaleString('en'))),
    '',
    '## Not noticed',
    '',
    ...(open.length === 0
      ? ['None.']
      : open.map(
          (cell) => `- ${keyOf(cell).replaceAll('\t', ' ')}: ${fates.get(keyOf(cell))?.verdict ?? 'not tried'}`,
        )),
    '',
    '## Left out',
    '',
    ...[...leftOut].map(([reason, list]) => `- ${list.length}: ${reason}. Such as ${list[0]}.`),
    '',
  ].join('\n')
}

const byCarrier = (cells: readonly Cell[], fates: ReadonlyMap<string, Fate>): string[] => {
  const names = [...new Set(cells.map(({ carrier }) => carrier.name))]
  return names.map((name) => {
    const own = cells.filter(({ carrier }) => carrier.name === name)
    const rows = own.flatMap((cell) => fates.get(keyOf(cell))?.row ?? [])
    const places = new Set(own.map(({ place }) => place.path)).size
    return `| ${name} | ${places} | ${own.length} | ${rows.length} | ${[...new Set(rows)].join(', ')} |`
  })
}

const grouped = (
  cells: readonly Cell[],
  fates: ReadonlyMap<string, Fate>,
  keyFor: (cell: Cell) => string,
): string[] => {
  const groups = new Map<string, { all: number; noticed: number }>()
  for (const cell of cells) {
    const group = groups.get(keyFor(cell)) ?? { all: 0, noticed: 0 }
    group.all++
    if (fates.get(keyOf(cell))?.row !== undefined) group.noticed++
    groups.set(keyFor(cell), group)
  }
  return [...groups].map(([key, { all, noticed }]) => `| ${key} | ${all} | ${noticed} |`)
}
