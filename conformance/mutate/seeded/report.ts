import { RULES } from './meaning.js'
import { keyOf, type SeededFault } from './seeded.js'
import type { Fate } from './trial.js'
import { unseen } from './unseen.js'

/** `conformance/seeded-mutations.md`. */
export const reportOf = (faults: readonly SeededFault[], fates: ReadonlyMap<string, Fate>): string => {
  const fate = (fault: SeededFault): Fate => fates.get(keyOf(fault)) ?? { kind: 'without effect' }
  const of = (kind: Fate['kind']): SeededFault[] => faults.filter((fault) => fate(fault).kind === kind)
  const [caught, escaped, same, idle] = [of('caught'), of('escaped'), of('same meaning'), of('without effect')]
  const share = ((caught.length / Math.max(1, caught.length + escaped.length)) * 100).toFixed(1)
  const objected = same.filter((fault) => fate(fault).objection !== undefined)
  return [
    '# Seeded mutations',
    '',
    'Written by `npx tsx conformance/mutate/seeded/main.ts grpc://HOST:PORT`. Do not edit.',
    '',
    `${faults.length} faults that nobody thought of: for each seed a random field of the responses of a random method is dropped,`,
    'doubled, cut, swapped, off by one, or turned over, in every response or in every second one; the rows that meet the field are run',
    'until one objects that has nothing to say of the server itself. Equal faults are tried once and counted as often as drawn.',
    'What an answer says is decided by the rules below as it passes, whatever the rows make of it.',
    '',
    '| | faults |',
    '| --- | ---: |',
    `| changed what an answer says, and were caught | ${caught.length} |`,
    `| changed what an answer says, and escaped | ${escaped.length} |`,
    `| share of those caught | ${share} % |`,
    `| changed the bytes of answers and not what they say | ${same.length} |`,
    `| left the bytes of every answer as they were | ${idle.length} |`,
    '',
    '## Escaped',
    '',
    ...listed(escaped.map((fault) => `${keyOf(fault)}: ${unseen(fault) ?? 'not explained'}`)),
    '',
    '## Not another answer',
    '',
    'Rules, and the faults that changed answers by them alone:',
    '',
    ...RULES.map(({ name, reason }) => {
      const count = same.filter((fault) => fate(fault).rules?.includes(name)).length
      return `- ${name}, ${count}: ${reason}`
    }),
    '',
    'Rows that objected all the same:',
    '',
    ...listed(objected.map((fault) => `${fate(fault).objection}: ${keyOf(fault)}`)),
    '',
    '## Caught, by the row that objected first',
    '',
    '| row | faults |',
    '| --- | ---: |',
    ...counted(caught.map((fault) => fate(fault).by ?? '')).map(([row, count]) => `| ${row} | ${count} |`),
    '',
  ].join('\n')
}

const listed = (keys: readonly string[]): string[] =>
  keys.length === 0 ? ['None.'] : counted(keys).map(([key, count]) => `- ${key}${count > 1 ? ` (${count} times)` : ''}`)

const counted = (keys: readonly string[]): [string, number][] => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
