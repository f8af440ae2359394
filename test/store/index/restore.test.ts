import t from 'tap'
import type { Entries } from '../../../src/store/index/entries.js'
import { byAccess } from '../../../src/store/index/restore.js'

const entries = (accessed: readonly number[]) =>
  ({ accessedOf: (slot: number) => accessed[slot] }) as unknown as Entries

t.test('slots are sorted by their last use, those of a second as they come', async (t) => {
  t.same([...byAccess([0, 1, 2, 3], entries([7, 5, 7, 6]))], [1, 3, 0, 2])
})

t.test('slots that were not used for more than a year come first, and none is lost', async (t) => {
  const now = 2 ** 25 + 10
  t.same([...byAccess([0, 1, 2, 3], entries([now, 0, 1, now - 1]))], [1, 2, 3, 0])
})
