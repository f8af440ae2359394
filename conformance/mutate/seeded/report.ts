import { free } from './free.js'
import { keyOf, type SeededFault } from './seeded.js'
import type { Fate } from './trial.js'

/** `conformance/seeded-mutations.md`. */
export const reportOf = (faults: readonly SeededFault[], fates: ReadonlyMap<string, Fate>): string => {
  const of = (kind: Fate['kind']): SeededFault[] => faults.filter((fault) => fates.get(keyOf(fault))?.kind === kind)
  const [caught, escaped, idle] = [of('caught'), of('escaped'), of('without effect')]
  const meaningless = escaped.filter((fault) => free(fault) !== undefined)
  const blind = escaped.filter((fault) => free(fault) === undefined)
  const meaningful = caught.length + blind.length
  const share = ((caught.length / Math.max(1, meaningful)) * 100).toFixed(1)
  return [
    '# Seeded mutations',
    '',
    'Written by `npx tsx conformance/mutate/seeded/main.ts grpc://HOST:PORT`. Do not edit.',
    '',
    `${faults.length} faults that nobody thought of: for each seed a random field of the responses of a random method is dropped,`,
    'doubled, cut, swapped, or off by one, in every response or in every second one; the checks that meet the field are run until one',
    'objects. Equal faults are tried once and counted as often as they were drawn.',
    '',
    '| | faults |',
    '| --- | ---: |',
    `| caught | ${caught.length} |`,
    `| escaped | ${blind.length} |`,
    `| share of those that change what an answer means | ${share} % |`,
    `| changed nothing that means anything, as told below | ${meaningless.length} |`,
    `| left the bytes of every response as they were | ${idle.length} |`,
    '',
    '## Escaped',
    '',
    ...(blind.length === 0 ? ['None.'] : counted(blind.map(keyOf)).map(([key, count]) => `- ${key} (${count})`)),
    '',
    '## Without meaning',
    '',
    ...counted(meaningless.map((fault) => free(fault) ?? '')).map(([reason, count]) => `- ${reason}: ${count}`),
    '',
    '## Caught, by the row that objected first',
    '',
    '| row | faults |',
    '| --- | ---: |',
    ...counted(caught.map((fault) => byOf(fates.get(keyOf(fault))))).map(([row, count]) => `| ${row} | ${count} |`),
    '',
  ].join('\n')
}

const byOf = (fate: Fate | undefined): string => (fate?.kind === 'caught' ? fate.by : '')

const counted = (keys: readonly string[]): [string, number][] => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
