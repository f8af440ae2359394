import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Code } from '../../../src/base/status-error.js'
import { before, LATE, unlessAborted, within } from '../../../src/base/work/deadline.js'

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

t.test('work ends with its call or its time, whichever is over first, and is told', async (t) => {
  const live = new AbortController()
  t.equal(await before(1000, 'nobody answered', live.signal, async () => 'here'), 'here')
  t.equal(await before(0, 'nobody answered', live.signal, async () => 'any time'), 'any time')
  let told: AbortSignal | undefined
  const deaf = (signal: AbortSignal): Promise<never> => {
    told = signal
    return new Promise(() => {})
  }
  await t.rejects(before(1, 'nobody answered', live.signal, deaf), {
    code: Code.DEADLINE_EXCEEDED,
    message: 'nobody answered within 1 ms',
  })
  t.ok(told?.aborted, 'the work is told')
  const given = before(1000, 'nobody answered', live.signal, deaf)
  live.abort()
  await t.rejects(given, { code: Code.CANCELLED })
  t.ok(told?.aborted)
  await t.rejects(
    before(1000, 'nobody answered', live.signal, async () => t.fail('it was begun')),
    { code: Code.CANCELLED },
    'and is not begun',
  )
})

t.test('who stops waiting leaves the work to the others', async (t) => {
  const leaving = new AbortController()
  let end = (_answer: string): void => {}
  const work = new Promise<string>((resolve) => {
    end = resolve
  })
  const left = unlessAborted(work, leaving.signal)
  const stayed = unlessAborted(work, new AbortController().signal)
  leaving.abort()
  await t.rejects(left, { code: Code.CANCELLED })
  end('here')
  t.equal(await stayed, 'here')
  await t.rejects(unlessAborted(work, leaving.signal), { code: Code.CANCELLED })
})
