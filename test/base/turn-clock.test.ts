import { pbkdf2 } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { freshMs, turnMs } from '../../src/base/turn-clock.js'

/** Keeps a thread of the pool busy until the loop sleeps. */
const ROUNDS = 50_000
/** Something else may wake the loop in between, or the machine be away for as long. */
const TIMES = 5

/** The time of the turn clock when a timer read it, and when an outside event woke the loop after that. */
const beforeAndAfterSleep = (): Promise<readonly [number, number]> =>
  new Promise((resolve, reject) => {
    // biome-ignore lint/plugin: a timer is what the clock is read in
    setTimeout(() => {
      const before = freshMs()
      pbkdf2('a', 'b', ROUNDS, 8, 'sha512', (error) => (error === null ? resolve([before, turnMs()]) : reject(error)))
    })
  })

test('an event that wakes a sleeping loop does not get the time of an earlier timer', async (t) => {
  let laterCount = 0
  for (let time = 0; time < TIMES; time++) {
    const [before, after] = await beforeAndAfterSleep()
    if (after > before) laterCount++
  }
  t.ok(laterCount > TIMES / 2, `${laterCount} of ${TIMES} times`)
})

test('all callers in a turn get the same time, those in the next turn another', async (t) => {
  const first = freshMs()
  await Promise.resolve()
  t.equal(turnMs(), first, 'also behind a promise')
  await setImmediate()
  t.ok(turnMs() > first)
})
