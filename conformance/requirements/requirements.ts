import { readFileSync } from 'node:fs'
import type { Level, Requirement } from './check.js'

const table = new URL('requirements.tsv', import.meta.url)

/** The checkable requirements of the protocol by id, in table order. */
export const requirements: ReadonlyMap<string, Requirement> = new Map(
  readFileSync(table, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line): [string, Requirement] => {
      const [id = '', section = '', rpc = '', level = '', requirement = '', expected = '', source = ''] =
        line.split('\t')
      return [id, { id, section, rpc, level: level as Level, requirement, expected, source }]
    }),
)

/** Explains an id that the table does not have. */
export const notThere = (id: string): string => {
  const kept = merged.get(id)
  return kept === undefined ? 'is not in the table of requirements' : `is part of ${kept} now`
}

/** Rows that were merged into another one, which older expectation lists may still name. */
const merged: ReadonlyMap<string, string> = new Map([
  ['CAP-07', 'CAP-04'],
  ['CAP-09', 'BUB-05'],
  ['CAP-13', 'BSW-21'],
  ['CAP-14', 'SPL-01'],
  ['GEN-06', 'FMB-10'],
  ['GEN-13', 'OUT-03'],
  ['FMB-04', 'DIG-12'],
  ['FMB-06', 'DIG-01'],
  ['FMB-11', 'FMB-01'],
  ['BSR-12', 'GEN-04'],
  ['EXE-42', 'EXE-35'],
])
