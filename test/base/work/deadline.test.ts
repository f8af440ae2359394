import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { LATE, within } from '../../../src/base/work/deadline.js'

t.test('what comes in time is the answer, what does not is LATE', async (t) => {
  const clock = new ManualClock()
  t.equal(await within(10, Promise.resolve('here'), clock), 'here')
  await t.rejects(within(10, Promise.reject(new Error('broken')), clock), { message: 'broken' })
  let end = (): void => {}
  const work = new Promise<void>((resolve) => {
    end = resolve
  })
  let answer: unknown
  const waiting = within(10, work, clock).then((came) => {
    answer = came
  })
  clock.advance(9)
  await Promise.resolve()
  t.equal(answer, undefined)
  clock.advance(1)
  await waiting
  t.equal(answer, LATE)
  end()
  t.equal(await within(1, new Promise(() => {})), LATE, 'and in real time')
})
