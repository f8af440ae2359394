import t from 'tap'
import type { Digest } from '../../../src/reapi/digest.js'
import { Batches } from '../../../src/store/lent/batches.js'
import { digestOf } from '../blobs.js'

const items = (count: number, sizeBytes = 1): { digest: Digest; sizeBytes: number }[] =>
  Array.from({ length: count }, (_, at) => ({ digest: digestOf(Buffer.from(`${at}`)), sizeBytes }))

const batches = (maxCount: number, maxBytes: number) => {
  const asked: number[] = []
  const batched = new Batches<{ digest: Digest; sizeBytes: number }, string>({
    maxCount,
    maxBytes,
    bytesOf: ({ sizeBytes }) => sizeBytes,
    ask: async (_, some) => {
      asked.push(some.length)
      return some.map(({ digest }) => digest.key)
    },
  })
  return { batched, asked }
}

t.test('what is asked in one turn travels in messages of so many items, and each gets its answer', async (t) => {
  const { batched, asked } = batches(2, 1000)
  const all = items(5)
  const answers = await Promise.all(all.map((item) => batched.ask(item)))
  t.same(
    answers,
    all.map(({ digest }) => digest.key),
  )
  t.same(asked, [2, 2, 1])
})

t.test('a message has no more bytes than its bound, but for a single item', async (t) => {
  const { batched, asked } = batches(100, 25)
  await Promise.all([...items(5, 10), ...items(1, 1000)].map((item) => batched.ask(item)))
  t.same(asked, [2, 2, 1, 1])
})

t.test('another digest function or instance travels apart', async (t) => {
  const { batched, asked } = batches(100, 1000)
  const [one] = items(1)
  if (one === undefined) throw new Error('no item')
  const digests = [one.digest, one.digest.isolatedFor('a'), one.digest.isolatedFor('b'), one.digest]
  await Promise.all(digests.map((digest) => batched.ask({ digest, sizeBytes: 1 })))
  t.same(asked, [2, 1, 1])
})
