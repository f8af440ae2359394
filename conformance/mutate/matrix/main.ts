import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { mutatedServer } from '../mutated-server.js'
import { type Cell, keyOf } from './cell.js'
import { matrixOf } from './cells.js'
import { reportOf } from './report.js'
import { readTable, writeTable } from './table.js'
import { fateOf, objectionsTo } from './trial.js'

const USAGE = `usage: npx tsx conformance/mutate/matrix/main.ts grpc://HOST:PORT [options]

tries the mutation of each cell of the matrix before a correct server with the instances of test/conformance/mutations.json5,
and writes conformance/mutate/matrix/cells.tsv and conformance/matrix.md

  --all               try every cell again, not only those that no row has noticed yet
  --match REGEXP      only cells whose key matches; its fields are separated by tabs
  --lanes N           cells side by side (default: 4)
  --time-limit S      stop after so many seconds, to be gone on with (default: 3600)
  --patience FACTOR   every deadline times this (default: 4)
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    match: { type: 'string', default: '' },
    lanes: { type: 'string', default: '4' },
    'time-limit': { type: 'string', default: '3600' },
    patience: { type: 'string', default: '4' },
  },
})
const [address] = positionals
if (address === undefined) {
  process.stderr.write(USAGE)
  process.exit(2)
}

const settings = mutatedServer(address, Number(values.patience))

const { cells, leftOut } = matrixOf()
const fates = readTable()
const matching = new RegExp(values.match)
const isOpen = (cell: Cell): boolean => values.all || fates.get(keyOf(cell))?.row === undefined
const queue = cells.filter((cell) => matching.test(keyOf(cell)) && isOpen(cell))
const rows = [...new Set(queue.flatMap(({ carrier }) => carrier.rows))]
const objections = await objectionsTo(settings, rows)
if (objections.length > 0) {
  process.stderr.write(`not a correct server:\n${objections.join('\n')}\n`)
  process.exit(1)
}
process.stderr.write(`${cells.length} cells, ${queue.length} of them to be tried\n`)
const endMs = performance.now() + Number(values['time-limit']) * 1000
/** Another process may have written what it tried meanwhile. */
const keep = (): void => {
  for (const [key, fate] of readTable()) if (!tried.has(key)) fates.set(key, fate)
  writeTable(cells, fates)
}
const tried = new Set<string>()
const lane = async (): Promise<void> => {
  for (let cell = queue.shift(); cell !== undefined && performance.now() < endMs; cell = queue.shift()) {
    const fate = await fateOf(cell, settings)
    fates.set(keyOf(cell), fate)
    tried.add(keyOf(cell))
    process.stderr.write(`${queue.length} ${keyOf(cell).replaceAll('\t', ' ')}: ${fate.verdict} ${fate.row ?? ''}\n`)
    if (queue.length % 50 === 0) keep()
  }
}
await Promise.all(Array.from({ length: Number(values.lanes) }, lane))
keep()
writeFileSync(new URL('../../matrix.md', import.meta.url), reportOf(cells, leftOut, fates))
process.exit(0)
