import { readFileSync } from 'node:fs'
import t from 'tap'
import { repMaxLengths } from '../../../conformance/material/rep-max-cdc.js'
import { bytesOf } from '../../store/blobs.js'

t.test('cuts are those of the implementation that the API names', async (t) => {
  const rows = readFileSync('fixtures/reapi/rep-max-cdc.tsv', 'utf8')
    .split('\n')
    .filter((line) => /^(seeded|zeros)\t/.test(line))
    .map((line) => line.split('\t'))
  t.equal(rows.length, 16)
  const contents: Record<string, Buffer> = { seeded: bytesOf(12_000_000, 'fast cdc'), zeros: Buffer.alloc(12_000_000) }
  for (const [content = '', sizeBytes, min, horizon, expected = ''] of rows) {
    const bytes = contents[content]?.subarray(0, Number(sizeBytes)) ?? Buffer.alloc(0)
    const name = `${content}, ${sizeBytes} bytes in chunks of at least ${min}, horizon ${horizon}`
    t.same(repMaxLengths(bytes, Number(min), Number(horizon)), expected.split(' ').map(Number), name)
  }
})
