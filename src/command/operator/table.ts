import { columns } from '../../base/columns.js'

const MAX_CELL = 100

/** Text of a client on one line. A terminal must not act on what it contains. */
export const cell = (text: string): string => {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
  return plain.length > MAX_CELL ? `${plain.slice(0, MAX_CELL - 1)}…` : plain
}

/** A table with a head; empty without rows. Says how many rows are left out. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], limit = rows.length): string => {
  if (rows.length === 0) return ''
  const shown = rows.slice(0, limit).map((row) => row.map((text) => (text === '' ? '-' : cell(text))))
  const more = rows.length > limit ? [`and ${rows.length - limit} more`] : []
  return [...columns([head, ...shown]), ...more].map((line) => `${line}\n`).join('')
}

/** Blocks of lines with an empty line between them. */
export const blocks = (all: readonly string[]): string => all.filter((block) => block !== '').join('\n')
