import { readFile } from 'node:fs/promises'
import t from 'tap'
import { after, TRANSITIONS } from '../../src/scheduler/simple/state/transitions.js'

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

const tableOf = (table: Table): string => {
  const events = [...new Set(Object.values(table).flatMap((row) => Object.keys(row)))]
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(['', ...events.map((event) => `\`${event}\``)]),
    line(['---', ...events.map(() => '---')]),
    ...Object.entries(table).map(([state, row]) => line([`**${state}**`, ...events.map((event) => row[event] ?? '')])),
  ].join('\n')
}

t.test('docs/scheduler.md shows the transitions as they are', async (t) => {
  const page = await readFile('docs/scheduler.md', 'utf8')
  for (const [kind, table] of Object.entries(TRANSITIONS)) {
    const written = page
      .split(`### ${kind}\n`)[1]
      ?.split(/\n(?=\n[^|])/)[0]
      ?.trim()
    t.equal(written, tableOf(table), kind)
  }
})

t.test('every event in every state leads somewhere or throws', async (t) => {
  for (const [kind, table] of Object.entries(TRANSITIONS) as [keyof typeof TRANSITIONS, Table][]) {
    const events = new Set(Object.values(table).flatMap((row) => Object.keys(row)))
    for (const [state, row] of Object.entries(table)) {
      for (const event of events) {
        const step = () => after(kind, state as never, event as never)
        if (row[event] === undefined) t.throws(step, /makes no sense/, `${kind} ${state} ${event}`)
        else t.ok(step() in table, `${kind} ${state} ${event}`)
      }
    }
  }
})
