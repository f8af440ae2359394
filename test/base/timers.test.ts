import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import {
  guardedAfterPromises,
  guardedImmediate,
  guardedInterval,
  guardedTimeout,
  reportTimerFailures,
  type TimerFailure,
} from '../../src/base/timers.js'

/** Reports go to `to` until the test ends. */
const reporting = (to: (failure: TimerFailure) => void, periodMs?: number): void => {
  reportTimerFailures(to, periodMs)
  t.teardown(() => reportTimerFailures(undefined))
}

/** The failures of a timer, once it has had `ticks` turns. */
const failuresOf = (ticks: number, start: (tick: () => unknown) => () => void, work: () => unknown) =>
  new Promise<number>((resolve) => {
    let count = 0
    const stop = start(() => {
      count += 1
      if (count === ticks) {
        stop()
        setImmediate(() => resolve(count))
      }
      return work()
    })
  })

const keepsAlive = (t: Test): void => {
  const timer = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(timer))
}

const TIMERS: Readonly<Record<string, (tick: () => unknown) => () => void>> = {
  'an interval': (tick) => {
    const timer = guardedInterval(tick, 1)
    return () => clearInterval(timer)
  },
  'the clock': (tick) => systemClock.every(1, tick),
}

for (const [name, timer] of Object.entries(TIMERS)) {
  t.test(
    `a tick of ${name} that throws or rejects does not end the process, and is reported once a period`,
    async (t) => {
      keepsAlive(t)
      const failures: TimerFailure[] = []
      reporting((failure) => failures.push(failure))
      const broken = new Error('broken')
      t.equal(
        await failuresOf(5, timer, () => {
          throw broken
        }),
        5,
        'it goes on',
      )
      t.strictSame(failures, [{ error: broken, periodMs: 1, count: 1 }])
      await failuresOf(5, timer, () => Promise.reject(broken))
      t.equal(failures.length, 2, 'another timer has reports of its own')
      reporting((failure) => failures.push(failure), 0)
      await failuresOf(3, timer, () => Promise.reject(broken))
      t.equal(failures.length, 5, 'each after a period')
    },
  )
}

t.test('a timeout that throws does not end the process and is reported', async (t) => {
  const failure = await new Promise<TimerFailure>((resolve) => {
    reporting(resolve, 0)
    guardedTimeout(() => {
      throw new Error('broken')
    }, 2)
  })
  t.match(failure, { error: { message: 'broken' }, periodMs: 2, count: 1 })
})

for (const [name, later] of Object.entries({ guardedImmediate, guardedAfterPromises }))
  t.test(`work at the end of a turn that throws does not end the process and is reported: ${name}`, async (t) => {
    const failure = await new Promise<TimerFailure>((resolve) => {
      reporting(resolve, 0)
      later(() => {
        throw new Error('broken')
      })
    })
    t.match(failure, { error: { message: 'broken' }, periodMs: undefined, count: 1 })
  })

t.test('work after promises runs when those of the turn have settled, and before the next turn', async (t) => {
  const order: string[] = []
  await new Promise<void>((resolve) => {
    guardedImmediate(() => {
      order.push('turn')
      resolve()
    })
    guardedAfterPromises(() => order.push('after promises'))
    const steps = async (): Promise<void> => {
      for (let step = 0; step < 5; step++) await undefined
      order.push('promises')
    }
    steps().catch(t.fail)
  })
  t.same(order, ['promises', 'after promises', 'turn'])
})

t.test('a delay that is no number is refused, and one that Node cannot keep does not end at once', async (t) => {
  for (const timer of [guardedTimeout, guardedInterval]) {
    t.throws(() => timer(() => {}, Number.NaN), { name: 'RangeError', message: /NaN, expected milliseconds/ })
  }
  let isOver = false
  const long = guardedTimeout(() => {
    isOver = true
  }, 2 ** 40)
  t.teardown(() => clearTimeout(long))
  await new Promise<void>((resolve) => guardedTimeout(resolve, 50))
  t.notOk(isOver)
})
