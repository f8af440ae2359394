import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { BroughtAttempt } from '../../src/scheduler/scheduler.js'
import { Bench, type Pairs } from './bench.js'

const brought = (action: string, { pairs = [], doNotCache = false }: { pairs?: Pairs; doNotCache?: boolean } = {}) => {
  const properties = pairs.map(([name, value]) => ({ name, value }))
  const actionDigest = Digest.of(Buffer.from(action), digestFunctions.SHA256)
  const request = { ...{ instanceName: '', actionDigest, properties, priority: 0 }, doNotCache }
  return {
    ...{ attemptId: `${action}-2`, operationName: `operations/${action}`, queuedMs: 0 },
    request: { ...request, skipCacheLookup: false, invocation: '' },
  }
}

const comeBack = (bench: Bench, attempts: readonly BroughtAttempt[], properties: readonly [string, string[]][] = []) =>
  bench.do(
    bench.machine.workerConnected(
      ...([bench.nowMs, 'w', { name: 'w', properties: new Map(properties), maxInflightAttempts: 1 }] as const),
      {
        attemptIds: attempts.map(({ attemptId }) => attemptId),
        brought: new Map(attempts.map((attempt) => [attempt.attemptId, attempt])),
      },
    ),
  )

t.test('an attempt of the previous scheduler process continues under its operation name', async (t) => {
  const bench = new Bench()
  comeBack(bench, [brought('a')])
  t.match(bench.state('operations/a'), { stage: 'EXECUTING' })
  t.same(bench.of('kill'), [])
  const other = bench.enqueue([], { action: 'b' })
  t.match(bench.state(other), { stage: 'QUEUED' }, 'it holds the place of the worker')
  bench.finish('w', 'a-2')
  t.match(bench.state('operations/a'), { stage: 'COMPLETED' })
  t.match(bench.state(other), { stage: 'EXECUTING' })
})

t.test('a later request for the same action gets the result of the adopted attempt', async (t) => {
  for (const isQueued of [true, false]) {
    const bench = new Bench()
    if (!isQueued) bench.worker('v', [])
    const again = bench.enqueue([], { action: 'a' })
    t.match(bench.state(again), { stage: isQueued ? 'QUEUED' : 'EXECUTING' })
    comeBack(bench, [brought('a')])
    t.match([bench.state(again), bench.state('operations/a')], [{ stage: 'EXECUTING' }, { stage: 'EXECUTING' }])
    t.equal(bench.of('kill').length, isQueued ? 0 : 1, 'what runs elsewhere already need not run here too')
    if (isQueued) bench.finish('w', 'a-2')
    else bench.finish('v', '1-1')
    t.match([bench.state(again), bench.state('operations/a')], [{ stage: 'COMPLETED' }, { stage: 'COMPLETED' }])
  }
})

t.test('an adopted action with do_not_cache is not shared', async (t) => {
  const bench = new Bench()
  const other = bench.enqueue([], { action: 'a' })
  comeBack(bench, [brought('a', { doNotCache: true })])
  t.match([bench.state(other), bench.state('operations/a')], [{ stage: 'QUEUED' }, { stage: 'EXECUTING' }])
})

t.test('an adopted attempt that fails is retried under a new attempt number', async (t) => {
  const bench = new Bench()
  comeBack(bench, [brought('a')])
  bench.fail('w', 'a-2')
  t.same(bench.starts, ['w operations/a a-3'])
})

t.test('an adopted attempt without a client is killed after client_action_timeout_s', async (t) => {
  const bench = new Bench({ clientActionTimeoutMs: 5_000, workerTimeoutMs: 60_000 })
  comeBack(bench, [brought('a')])
  bench.pass(6_000)
  t.match(bench.failure('operations/a'), { code: 4 })
  t.match(bench.of('kill'), [{ attemptId: 'a-2' }])
})

t.test('attempts that are not adopted are killed', async (t) => {
  for (const [why, bench, attempt] of [
    ['too late', new Bench({ adoptForMs: 1_000 }), brought('a')],
    ['never', new Bench({ adoptForMs: 0 }), brought('a')],
    ['what the worker does not offer', new Bench(), brought('a', { pairs: [['os', 'linux']] })],
    ['what is not supported any more', new Bench(), brought('a', { pairs: [['colour', 'blue']] })],
  ] as const) {
    bench.pass(2_000)
    comeBack(bench, [attempt])
    t.equal(bench.state('operations/a'), undefined, why)
    t.match(bench.of('kill'), [{ attemptId: 'a-2' }], why)
  }
  const bench = new Bench()
  const known = bench.enqueue()
  comeBack(bench, [{ ...brought('a'), operationName: known }])
  t.match(bench.of('kill'), [{ attemptId: 'a-2' }], 'an operation that was begun here')
  t.match(bench.starts.at(-1) ?? '', '', 'and it takes nothing until it has stopped that')
})
