import { readFileSync } from 'node:fs'
import type { Level, Requirement } from './check.js'

const table = new URL('requirements.tsv', import.meta.url)

/** A field of a tab-separated file as spreadsheets quote it. */
const plain = (field: string): string => (/^".*"$/.test(field) ? field.slice(1, -1).replaceAll('""', '"') : field)

/** Every requirement of the protocol that can be checked, by id, in the table's order. */
export const requirements: ReadonlyMap<string, Requirement> = new Map(
  readFileSync(table, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line): [string, Requirement] => {
      const [, id = '', section = '', rpc = '', level = '', requirement = '', , expected = ''] = line
        .split('\t')
        .map(plain)
      return [id, { id, section, rpc, level: level as Level, requirement, expected }]
    }),
)
