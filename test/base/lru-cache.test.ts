import fc from 'fast-check'
import t from 'tap'
import { LruCache } from '../../src/base/lru-cache.js'

t.test('the least recently used value is evicted first', async (t) => {
  const cache = new LruCache<string>(8)
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key.toUpperCase(), 2)
  t.equal(cache.get('a'), 'A')
  cache.set('e', 'E', 2)
  t.equal(cache.get('b'), undefined)
  t.same(
    ['a', 'c', 'd', 'e'].map((key) => cache.get(key)),
    ['A', 'C', 'D', 'E'],
  )
})

t.test('a value that is too heavy is not kept, nor is an older value under its key', async (t) => {
  const cache = new LruCache<number>(8)
  cache.set('a', 1, 2)
  cache.set('a', 2, 3)
  t.equal(cache.get('a'), undefined)
  t.equal(cache.size, 0)
})

t.test('the weight never exceeds the limit and the newest values are there', async () => {
  const entry = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    weight: fc.integer({ min: 0, max: 25 }),
  })
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const cache = new LruCache<number>(100)
      const model = new Map<string, { readonly value: number; readonly weight: number }>()
      for (const [value, { key, weight }] of entries.entries()) {
        cache.set(key, value, weight)
        model.delete(key)
        model.set(key, { value, weight })
        const total = () => [...model.values()].reduce((sum, kept) => sum + kept.weight, 0)
        while (total() > 100) model.delete([...model.keys()][0] ?? '')
        if (cache.size !== model.size) return false
      }
      return [...model].every(([key, kept]) => cache.get(key) === kept.value)
    }),
  )
})
