import t from 'tap'
import { healthOf } from '../../src/scheduler/simple/health.js'
import { Bench } from './bench.js'

t.test('a worker that fails three actions in a row is named as set aside, until an action runs there', async (t) => {
  const b = new Bench({ workerFailuresInARow: 3, maxJobRetries: 0, workerBackoffMs: 1_000 })
  b.worker('black-hole', [], 1)
  for (let failure = 0; failure < 3; failure++) {
    t.same(healthOf(b.machine), { state: 'Ok', message: '1 worker connected, 0 attempts running, 0 actions queued' })
    b.enqueue()
    b.fail('black-hole', b.of('start').at(-1)?.start.attemptId ?? '')
  }
  t.same(healthOf(b.machine), {
    state: 'Warning',
    message:
      '1 worker connected, 0 attempts running, 0 actions queued; black-hole is set aside (the page of workers says why)',
  })
  b.pass(1_000, ['black-hole'])
  b.enqueue()
  b.finish('black-hole', b.of('start').at(-1)?.start.attemptId ?? '')
  t.equal(healthOf(b.machine).state, 'Warning', 'a response without a result shows nothing')
})

t.test('a sick worker is named, and of many only some', async (t) => {
  const b = new Bench()
  for (let index = 0; index < 7; index++) {
    b.worker(`w${index}`, [], 1)
    b.do(b.machine.health(b.nowMs, `w${index}`, 'the disk of /secret/path is full'))
  }
  const { state, message } = healthOf(b.machine)
  t.equal(state, 'Warning')
  t.match(
    message,
    /; w0 is sick, w1 is sick, w2 is sick, w3 is sick, w4 is sick, and 2 more \(the page of workers says why\)$/,
  )
  t.notMatch(message, 'secret')
})
