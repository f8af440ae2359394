import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { TimeSlices } from '../../src/work/time-slices.js'
import { during } from '../until.js'

const SLICE_MS = 1

/** Runs until the time of a slice is over. */
const part = (): void => {
  // biome-ignore lint/plugin: uses up a slice
  const untilMs = performance.now() + 2 * SLICE_MS
  // biome-ignore lint/plugin: uses up a slice
  while (performance.now() < untilMs);
}

t.test('a turn of the event loop stays short however many users have work', async (t) => {
  const slices = new TimeSlices(SLICE_MS)
  const done: number[] = []
  const user = async (number: number): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await slices.step()
      part()
      done.push(number)
    }
  }
  // The first turn: some users may have time left.
  part()
  const users = Array.from({ length: 50 }, (_, number) => user(number))
  let most = 0
  await during(Promise.all(users), async () => {
    const before = done.length
    await setImmediate()
    most = Math.max(most, done.length - before)
  })
  t.equal(done.length, 150)
  t.ok(most <= 2, `${most} parts in a turn`)
  t.same(
    done.slice(0, 50),
    [...done.slice(0, 50)].sort((a, b) => a - b),
    'in order',
  )
  t.same(new Set(done.slice(0, 50)).size, 50, 'each once before the first goes on')
})

t.test('users with short parts share a turn', async (t) => {
  const slices = new TimeSlices(1000)
  for (let round = 0; round < 10; round++) t.equal(slices.step(), undefined)
})
