import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Code } from '../../src/base/status-error.js'
import { before, LATE, StepDeadline, unlessAborted, within } from '../../src/work/deadline.js'

t.test('a result in time is returned, a late one is LATE', async (t) => {
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

t.test('work is aborted when its call ends or its time is over, whichever is first', async (t) => {
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

t.test('a caller that stops waiting does not end the work for others', async (t) => {
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

t.test('each of many steps has its time, and the result of a late one is ignored', async (t) => {
  const steps = new StepDeadline(20, 'nobody answered')
  t.teardown(() => steps.stop())
  t.equal(await steps.step(Promise.resolve('first')), 'first')
  await t.rejects(steps.step(Promise.reject(new Error('broken'))), { message: 'broken' })
  // Longer than one step may take: the timer expires between steps.
  await within(60, new Promise(() => {}))
  t.equal(await steps.step(Promise.resolve('after a while')), 'after a while')
  let fail = (_error: Error): void => {}
  const late = new Promise<string>((_resolve, reject) => {
    fail = reject
  })
  const message = 'nobody answered within 20 ms'
  await t.rejects(steps.step(late), { code: Code.DEADLINE_EXCEEDED, message })
  fail(new Error('too late'))
  t.equal(await steps.step(Promise.resolve('well again')), 'well again')
  await t.rejects(steps.step(new Promise(() => {})), { code: Code.DEADLINE_EXCEEDED }, 'and each again')
  const patient = new StepDeadline(0, 'nobody answered')
  t.equal(await patient.step(Promise.resolve('any time')), 'any time')
})
