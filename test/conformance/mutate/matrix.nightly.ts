import t from 'tap'
import { keyOf } from '../../../conformance/mutate/matrix/cell.js'
import { matrixOf } from '../../../conformance/mutate/matrix/cells.js'
import { readTable } from '../../../conformance/mutate/matrix/table.js'
import { fateOf } from '../../../conformance/mutate/matrix/trial.js'
import { startServer } from '../server.js'

// Every fortieth cell of the matrix, tried with the row that noticed it when the table was written.
// For changes in: conformance

t.setTimeout(900_000)

const EVERY = 40

t.test('cells of the matrix are noticed by the rows that the table names', async (t) => {
  const settings = {
    address: await startServer(t),
    instanceName: '',
    secondInstanceName: 'second',
    properties: [{ name: 'OSFamily', value: 'Linux' }],
    headers: {},
    tls: {},
    patience: 4,
  }
  const fates = readTable()
  const noticed = matrixOf().cells.filter((cell) => fates.get(keyOf(cell))?.row !== undefined)
  const sample = noticed.filter((_, at) => at % EVERY === 0)
  for (const cell of sample) {
    const { row = '' } = fates.get(keyOf(cell)) ?? {}
    const fate = await fateOf(cell, settings, [row])
    t.equal(fate.row, row, keyOf(cell).replaceAll('\t', ' '))
  }
})
