import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Cell, keyOf } from './cell.js'
import type { Fate } from './trial.js'

/** The kept table: a line for each cell, with the row that noticed its mutation. */
export const TABLE_FILE = fileURLToPath(new URL('cells.tsv', import.meta.url))

const HEAD = 'carrier\tplace\tway\talphabet\tcount\trow\tverdict'

export const readTable = (file = TABLE_FILE): Map<string, Fate> => {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(1) : []
  return new Map(
    lines.map((line) => {
      const fields = line.split('\t')
      const [row = '', verdict = 'escaped'] = fields.slice(5)
      return [fields.slice(0, 5).join('\t'), { row: row === '' ? undefined : row, verdict: verdict as Fate['verdict'] }]
    }),
  )
}

export const writeTable = (cells: readonly Cell[], fates: ReadonlyMap<string, Fate>): void => {
  const lines = cells.flatMap((cell) => {
    const fate = fates.get(keyOf(cell))
    return fate === undefined ? [] : [`${keyOf(cell)}\t${fate.row ?? ''}\t${fate.verdict}`]
  })
  writeFileSync(TABLE_FILE, `${[HEAD, ...lines].join('\n')}\n`)
}
