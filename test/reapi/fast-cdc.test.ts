import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { MORE } from '../../src/reapi/chunking.js'
import { chunkSizesOf, FastCdc, sizesFault } from '../../src/reapi/fast-cdc.js'
import { bytesOf } from '../store/blobs.js'
import { rejects } from '../store/suite.js'

const lengthsOf = (chunks: FastCdc, bytes: Buffer): number[] => {
  const cutter = chunks.cutter()
  const lengths: number[] = []
  for (let from = 0; from < bytes.length; from += lengths.at(-1) ?? 0)
    lengths.push(cutter.cut(bytes, from, bytes.length, true) - from)
  return lengths
}

/** The same as bytes come in parts of these lengths, each time at another place in memory. */
const lengthsInParts = (chunks: FastCdc, bytes: Buffer, parts: readonly number[]): number[] => {
  const cutter = chunks.cutter()
  const lengths: number[] = []
  let from = 0
  let to = 0
  for (let at = 0; from < bytes.length; at++) {
    to = Math.min(bytes.length, to + (parts[at % parts.length] ?? 1))
    for (let end = 0; end !== MORE && from < to; ) {
      const chunk = Buffer.concat([Buffer.alloc(at % 7), bytes.subarray(from, to)])
      end = cutter.cut(chunk, at % 7, chunk.length, to === bytes.length)
      if (end === MORE) continue
      lengths.push(end - (at % 7))
      from += lengths.at(-1) ?? 0
    }
  }
  return lengths
}

t.test('SPL-10: cuts at the same positions as the published implementation', (t) => {
  const rows = readFileSync(new URL('../../fixtures/reapi/fast-cdc.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^(seeded|zeros)\t/.test(line))
    .map((line) => line.split('\t'))
  t.equal(rows.length, 18)
  const contents: Record<string, Buffer> = { seeded: bytesOf(12_000_000, 'fast cdc'), zeros: Buffer.alloc(12_000_000) }
  for (const [content = '', sizeBytes, min, normal, max, expected = ''] of rows) {
    const bytes = contents[content]?.subarray(0, Number(sizeBytes)) ?? Buffer.alloc(0)
    const chunks = new FastCdc({ min: Number(min), normal: Number(normal), max: Number(max) })
    const name = `${content}, ${sizeBytes} bytes in chunks of about ${normal}`
    t.same(lengthsOf(chunks, bytes), expected.split(' ').map(Number), name)
  }
  t.end()
})

t.test('a cut depends only on the next max bytes', (t) => {
  const bytes = bytesOf(200_000, 'window')
  const sizes = chunkSizesOf(1024)
  const chunks = new FastCdc(sizes)
  const holds = fc.property(fc.nat(bytes.length - sizes.max), fc.nat(5000), (from, more) => {
    const to = Math.min(bytes.length, from + sizes.max + more)
    const end = chunks.cutter().cut(bytes, from, to, false)
    return end !== MORE && end === chunks.cutter().cut(bytes, from, bytes.length, true)
  })
  t.doesNotThrow(() => fc.assert(holds))
  t.end()
})

t.test('bytes that come in parts are cut as those that come at once', (t) => {
  const bytes = bytesOf(60_000, 'parts')
  const sizes = fc.constantFrom(
    chunkSizesOf(1024),
    { min: 301, normal: 1001, max: 3003 },
    { min: 64, normal: 999, max: 999 },
  )
  const holds = fc.property(
    sizes,
    fc.nat(60_000),
    fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }),
    (of, count, parts) => {
      const content = bytes.subarray(0, count)
      const chunks = new FastCdc(of)
      t.same(lengthsInParts(chunks, content, parts), lengthsOf(chunks, content))
    },
  )
  fc.assert(holds, { numRuns: 50 })
  t.end()
})

t.test('inserted bytes change only the chunks around them', (t) => {
  const bytes = bytesOf(2_000_000, 'similar')
  const chunks = new FastCdc(chunkSizesOf(8192))
  const cutsOf = (content: Buffer): Set<string> => {
    const found = new Set<string>()
    let from = 0
    for (const length of lengthsOf(chunks, content)) {
      found.add(content.toString('latin1', from, from + length))
      from += length
    }
    return found
  }
  const before = cutsOf(bytes)
  const after = cutsOf(Buffer.concat([bytes.subarray(0, 30_000), Buffer.from('inserted'), bytes.subarray(30_000)]))
  const added = [...after].filter((chunk) => !before.has(chunk))
  t.ok(before.size > 50, `${before.size} different chunks`)
  t.ok(added.length <= 3, `${added.length} chunks are new`)
  t.end()
})

t.test('invalid sizes are rejected with the valid range', async (t) => {
  t.equal(sizesFault(chunkSizesOf(1024)), undefined)
  t.equal(sizesFault(chunkSizesOf(1024 * 1024)), undefined)
  const wrong = [
    { min: 0, normal: 1024, max: 4096 },
    { min: 64, normal: 128, max: 4096 },
    { min: 2048, normal: 1024, max: 4096 },
    { min: 64, normal: 4096, max: 1024 },
    { min: 64, normal: 16 * 1024 * 1024, max: 16 * 1024 * 1024 },
    { min: 64, normal: 1024, max: 64 * 1024 * 1024 },
  ]
  for (const sizes of wrong) {
    t.match(sizesFault(sizes), `normal ${sizes.normal}`)
    await rejects(t, (async () => new FastCdc(sizes))(), 'INVALID_ARGUMENT')
  }
})
