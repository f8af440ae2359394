/** The table of docs/how-large.md follows from its assumptions and from the costs that it names. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { root } from '../cli/program.js'

const page = readFileSync(`${root}docs/how-large.md`, 'utf8')
const cellsOf = (row: string): number[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => Number(/[\d.]+/.exec(cell.replaceAll(',', ''))?.[0]))

/** Bytes of a gibibyte beside those of a gigabyte. */
const GIB = 2 ** 30 / 1e9

t.test('each row is what its number of developers costs', async (t) => {
  const [, table = ''] = /## Assumptions\n(.*?)\n## /s.exec(page) ?? []
  const values = [...table.matchAll(/^\| [^|]+ \| ([\d,]+) \|$/gm)].map(([, text = '']) =>
    Number(text.replace(',', '')),
  )
  t.equal(values.length, 7)
  const [builds = 0, actions = 0, readMb = 0, writtenMb = 0, blobKb = 0, days = 0, peakHours = 0] = values
  const number = (pattern: RegExp): number => Number(pattern.exec(page)?.[1])
  const [callUs, readS, writeS, tlsS] = [
    number(/: ([\d.]+) µs a call/),
    number(/([\d.]+) s for each GiB read/),
    number(/([\d.]+) s for each GiB written/),
    number(/with TLS ([\d.]+) s more/),
  ]
  const rows = [...page.matchAll(/^\| [\d,]+ \| [\d,]+ \|.*$/gm)].map(([row]) => cellsOf(row))
  t.equal(rows.length, 3)
  for (const row of rows) {
    const [developers = 0] = row
    const daily = developers * builds
    const [readGb, writtenGb] = [(daily * readMb) / 1000, (daily * writtenMb) / 1000]
    const blobs = (writtenGb * days * 1e6) / blobKb / 1e6
    const peakS = peakHours * 3600
    const calls = (daily * actions * 2 * 0.5) / peakS
    const [readGib, writtenGib] = [(readGb * 0.5) / GIB, (writtenGb * 0.5) / GIB]
    const cores = (readGib * readS + writtenGib * writeS) / peakS + (calls * callUs) / 1e6
    const withTls = cores + ((readGib + writtenGib) * tlsS) / peakS
    const memoryGb = 0.09 + 0.082 * blobs
    const gbits = (readGb * 0.5 * 8) / peakS
    const expected = [developers, daily, (writtenGb * days) / 1000, blobs, memoryGb, gbits, calls, cores, withTls]
    for (const [at, value] of expected.entries()) {
      const shown = row[at] ?? Number.NaN
      // Cells are rounded to two digits, or to a hundredth of a core.
      t.ok(Math.abs(shown - value) <= Math.max(value * 0.08, 0.005), `column ${at}: ${shown} for ${value}`)
    }
  }
})
