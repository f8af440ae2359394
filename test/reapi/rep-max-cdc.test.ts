import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { RepMaxCdc, repMaxFault } from '../../src/reapi/rep-max-cdc.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { cutBlob } from '../../src/stream/chunking/cut-blob.js'
import { bytesOf, source } from '../store/blobs.js'

const lengthsOf = (chunking: RepMaxCdc, bytes: Buffer): number[] => {
  const cutter = chunking.cutter()
  const lengths: number[] = []
  for (let from = 0; from < bytes.length; from += lengths.at(-1) ?? 0)
    lengths.push(cutter.cut(bytes, from, bytes.length, true) - from)
  return lengths
}

t.test('cuts at the same positions as the published implementation', (t) => {
  const rows = readFileSync(new URL('../../fixtures/reapi/rep-max-cdc.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^(seeded|zeros)\t/.test(line))
    .map((line) => line.split('\t'))
  t.equal(rows.length, 16)
  const contents: Record<string, Buffer> = { seeded: bytesOf(12_000_000, 'fast cdc'), zeros: Buffer.alloc(12_000_000) }
  for (const [content = '', sizeBytes, min, horizon, expected = ''] of rows) {
    const bytes = contents[content]?.subarray(0, Number(sizeBytes)) ?? Buffer.alloc(0)
    const chunking = new RepMaxCdc({ minBytes: Number(min), horizonBytes: Number(horizon) })
    const name = `${content}, ${sizeBytes} bytes in chunks of at least ${min}, horizon ${horizon}`
    t.same(lengthsOf(chunking, bytes), expected.split(' ').map(Number), name)
  }
  t.end()
})

t.test('a blob is cut alike whole and in pieces of any size', async (t) => {
  const bytes = bytesOf(400_000, 'pieces')
  const chunking = new RepMaxCdc({ minBytes: 4096, horizonBytes: 32_768 })
  const whole = lengthsOf(chunking, bytes)
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1 }), async (sizes) => {
    const pieces: Buffer[] = []
    for (let at = 0, next = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 0, next++)
      pieces.push(bytes.subarray(at, at + (sizes[next % sizes.length] as number)))
    const lengths: number[] = []
    const blob = Blob.ofPath([source(pieces)], { sizeBytes: bytes.length, offset: 0 })
    await cutBlob(blob, chunking, async ({ bytes }) => void lengths.push(bytes.length), new AbortController().signal)
    t.same(lengths, whole)
  })
  await fc.assert(property, { numRuns: 20 })
})

t.test('every chunk but that of a small blob has from the minimum to less than twice that', (t) => {
  const chunking = new RepMaxCdc({ minBytes: 64, horizonBytes: 512 })
  t.equal(chunking.maxBytes, 127)
  const holds = fc.property(fc.uint8Array({ minLength: 64, maxLength: 3000 }), (bytes) =>
    lengthsOf(chunking, Buffer.from(bytes)).every((length) => length >= 64 && length <= 127),
  )
  t.doesNotThrow(() => fc.assert(holds))
  t.same(lengthsOf(chunking, Buffer.alloc(63)), [63])
  t.end()
})

t.test('inserted bytes change only the chunks around them', (t) => {
  const bytes = bytesOf(2_000_000, 'similar')
  const chunking = new RepMaxCdc({ minBytes: 8192, horizonBytes: 65_536 })
  const cutsOf = (content: Buffer): Set<string> => {
    const found = new Set<string>()
    let from = 0
    for (const length of lengthsOf(chunking, content)) {
      found.add(content.toString('latin1', from, from + length))
      from += length
    }
    return found
  }
  const before = cutsOf(bytes)
  const after = cutsOf(Buffer.concat([bytes.subarray(0, 30_000), Buffer.from('inserted'), bytes.subarray(30_000)]))
  const added = [...after].filter((chunk) => !before.has(chunk))
  t.ok(before.size > 50, `${before.size} different chunks`)
  t.ok(added.length <= 4, `${added.length} chunks are new`)
  t.end()
})

t.test('sizes that cannot be are refused with the expected ones', async (t) => {
  for (const sizes of [
    { minBytes: 63, horizonBytes: 0 },
    { minBytes: 2 ** 21, horizonBytes: 0 },
    { minBytes: 64, horizonBytes: 2 ** 25 },
  ]) {
    t.match(repMaxFault(sizes), /expected a minimum from 64 to 1048576 and a horizon of at most 16777216/)
    t.throws(() => new RepMaxCdc(sizes), { message: /chunks cannot be cut/ })
  }
})
