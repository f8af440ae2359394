import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { OperationPast } from '../../src/scheduler/scheduler.js'
import { Bench } from './bench.js'

const digestOf = (action: string) => Digest.of(Buffer.from(action), digestFunctions.SHA256)

const requestOf = (action: string, scope?: string) => ({
  ...{ instanceName: '', actionDigest: digestOf(action), properties: [], priority: 0, invocation: '' },
  ...{ doNotCache: false, skipCacheLookup: false, scope },
})

/** An operation that a server hands in again, as far as the machine sees it. */
const handIn = (bench: Bench, action: string, past: Partial<OperationPast> = {}, scope?: string): string => {
  const name = `operations/${action}`
  bench.do(bench.machine.open(bench.nowMs, name, '', digestOf(action)))
  bench.do(bench.machine.clientAttached(bench.nowMs, name))
  const whole = { queuedMs: 0, attempts: 0, failures: 0, ...past }
  bench.do(bench.machine.enqueue(bench.nowMs, name, requestOf(action, scope), whole))
  return name
}

const running = (action: string, tries = 1) => ({
  attempts: tries,
  running: { attemptId: `${action}-${tries}`, workerId: 'w', scope: '' },
})

/** The worker of the earlier process, with these attempts, of callers of one scope. */
const comeBack = (bench: Bench, ...attemptIds: string[]): void => comeBackOf(undefined, bench, ...attemptIds)

const comeBackOf = (scope: string | undefined, bench: Bench, ...attemptIds: string[]): void => {
  const brought = attemptIds.map((attemptId) => {
    const action = attemptId.slice(0, attemptId.lastIndexOf('-'))
    return { attemptId, operationName: `operations/${action}`, queuedMs: 0, request: requestOf(action, scope) }
  })
  const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 1 }
  const past = { attemptIds, brought: new Map(brought.map((attempt) => [attempt.attemptId, attempt])) }
  bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, past))
}

t.test('operations that were handed in again keep their place: the one queued first runs first', async (t) => {
  const bench = new Bench()
  bench.nowMs = 10_000
  const fresh = bench.enqueue([], { action: 'fresh' })
  handIn(bench, 'later', { queuedMs: 6_000 })
  handIn(bench, 'first', { queuedMs: 5_000 })
  bench.worker('w', [], 1)
  for (const name of ['operations/first', 'operations/later', fresh]) {
    t.match(bench.state(name), { stage: 'EXECUTING' }, name)
    bench.finish('w', bench.of('start').at(-1)?.start.attemptId ?? '')
  }
})

t.test('an equal action that was queued since takes the place of the one that was handed in again', async (t) => {
  const bench = new Bench()
  bench.nowMs = 10_000
  bench.enqueue([], { action: 'other' })
  const joined = bench.enqueue([], { action: 'a' })
  handIn(bench, 'a', { queuedMs: 5_000 })
  bench.worker('w', [], 1)
  t.match([bench.state(joined), bench.state('operations/a')], [{ stage: 'EXECUTING' }, { stage: 'EXECUTING' }])
})

t.test('tries and failures of an operation go on where the earlier scheduler had left them', async (t) => {
  const bench = new Bench({ maxJobRetries: 2, workerFailuresInARow: 0 })
  handIn(bench, 'a', { attempts: 4, failures: 2 })
  bench.worker('w')
  t.same(bench.starts, ['w operations/a a-5'])
  bench.fail('w', 'a-5')
  t.match(bench.failure('operations/a')?.message, /^3 of 3 tries failed/)
})

t.test('an attempt that goes on counts, also where the operation of another client was queued first', async (t) => {
  const bench = new Bench({ maxJobRetries: 2, workerFailuresInARow: 0 })
  const joined = bench.enqueue([], { action: 'a' })
  handIn(bench, 'a', running('a', 2))
  comeBack(bench, 'a-2')
  bench.fail('w', 'a-2')
  t.match(bench.starts.at(-1), /^w .*-3$/, 'the next one is the third')
  t.match(bench.state(joined), { stage: 'EXECUTING' })
})

t.test('an attempt that was lost, and comes back, is one try', async (t) => {
  const bench = new Bench({ maxJobRetries: 1, workerFailuresInARow: 0, workerTimeoutMs: 10_000 })
  handIn(bench, 'a', running('a'))
  comeBack(bench, 'a-1')
  for (const _ of ['lost', 'lost again', 'lost once more']) {
    bench.pass(20_000)
    t.match(bench.state('operations/a'), { stage: 'QUEUED' })
    comeBack(bench, 'a-1')
    t.match(bench.state('operations/a'), { stage: 'EXECUTING' })
  }
  bench.fail('w', 'a-1')
  t.match(bench.starts, ['w operations/a a-2'])
  bench.fail('w', 'a-2')
  t.match(bench.failure('operations/a')?.message, /^2 of 2 tries failed/)
})

t.test('a start that was lost with the connection is no try, unless that happens again and again', async (t) => {
  const bench = new Bench({ maxJobRetries: 1, workerFailuresInARow: 0 })
  const name = bench.enqueue([], { action: 'a' })
  bench.machine.clientAttached(0, name)
  bench.worker('w')
  const isLost = () => {
    bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
    comeBack(bench)
  }
  for (let times = 0; times < 10; times++) isLost()
  t.match(bench.state(name), { stage: 'EXECUTING' })
  isLost()
  isLost()
  t.match(bench.failure(name)?.message, /^2 of 2 tries failed, the last one: worker w came back without this attempt/)
})

t.test(
  'attempts of two leaders have different ids, also if the second does not know of the last of the first',
  async (t) => {
    const ids = [3, 4].map((epoch) => {
      const bench = new Bench({}, undefined, epoch)
      handIn(bench, 'a', { attempts: 1 })
      bench.worker('w')
      return bench.starts
    })
    t.same(ids, [['w operations/a a-3-2'], ['w operations/a a-4-2']])
  },
)

t.test('a full queue takes what an earlier scheduler had queued, and nothing new', async (t) => {
  const bench = new Bench({ maxQueuedActions: 1 })
  handIn(bench, 'a')
  handIn(bench, 'b')
  t.throws(() => bench.enqueue(), { code: 8 })
})

for (const order of ['the worker comes first', 'the server comes first'] as const) {
  t.test(`an attempt goes on in the operation that was handed in again: ${order}`, async (t) => {
    const bench = new Bench()
    bench.worker('free')
    const steps = [() => comeBack(bench, 'a-1'), () => void handInUnlessKnown()]
    const handInUnlessKnown = () => {
      // As the host does: an operation that a worker brought is known.
      if (!bench.machine.has('operations/a')) handIn(bench, 'a', running('a'))
    }
    for (const step of order === 'the worker comes first' ? steps : steps.reverse()) step()
    t.same(bench.starts, [], 'nothing runs a second time')
    t.same(bench.of('kill'), [])
    bench.finish('w', 'a-1')
    t.match(bench.state('operations/a'), { stage: 'COMPLETED' })
  })
}

t.test('an attempt of a branch goes on in no operation of another scope', async (t) => {
  for (const scope of [undefined, 'other']) {
    const bench = new Bench()
    handIn(bench, 'a', {}, scope)
    comeBackOf('branch', bench, 'a-1')
    t.match(bench.state('operations/a'), { stage: 'QUEUED' }, `${scope}: the result of the attempt is not its own`)
    t.same(
      bench.of('kill').map(({ attemptId }) => attemptId),
      ['a-1'],
    )
  }
})

t.test('an operation waits for no attempt that ran for another scope', async (t) => {
  const bench = new Bench()
  handIn(bench, 'a', { ...running('a'), running: { ...running('a').running, scope: 'branch' } })
  t.match(bench.state('operations/a'), { stage: 'QUEUED' })
})

t.test('while the worker of a running attempt is awaited, nobody else runs it', async (t) => {
  const bench = new Bench()
  bench.worker('free')
  handIn(bench, 'a', running('a'))
  t.match(bench.state('operations/a'), { stage: 'EXECUTING' })
  bench.pass(4_000, ['free'])
  t.same(bench.starts, [])
})

t.test('a worker that comes without the attempt, or never, costs the action no try', async (t) => {
  for (const comes of [true, false]) {
    const bench = new Bench({ maxJobRetries: 0, workerTimeoutMs: 5_000 })
    bench.worker('free')
    handIn(bench, 'a', running('a'))
    if (comes) comeBack(bench)
    else bench.pass(6_000, ['free'])
    t.match(bench.starts, [/ operations\/a a-2$/], comes ? 'without it' : 'never')
    t.match(bench.state('operations/a'), { stage: 'EXECUTING' })
  }
})

t.test('an attempt whose worker is here without it is queued at once', async (t) => {
  const bench = new Bench()
  comeBack(bench)
  handIn(bench, 'a', running('a'))
  t.same(bench.starts, ['w operations/a a-2'])
})

t.test('an attempt of one scope does not go on in the operation of another', async (t) => {
  const bench = new Bench()
  bench.worker('free')
  handIn(bench, 'a', { attempts: 1, running: { attemptId: 'a-1', workerId: 'w', scope: 'branch' } })
  t.same(bench.starts, ['free operations/a a-2'], 'it is not waited for')
  const other = new Bench()
  handIn(other, 'b')
  const brought = { attemptId: 'b-1', operationName: 'operations/b', queuedMs: 0 }
  const request = { ...requestOf('b'), scope: 'branch' }
  const past = { attemptIds: ['b-1'], brought: new Map([['b-1', { ...brought, request }]]) }
  other.do(other.machine.workerConnected(0, 'w', { name: 'w', properties: new Map(), maxInflightAttempts: 1 }, past))
  t.match(other.of('kill'), [{ attemptId: 'b-1' }])
})

t.test('an attempt for an operation of another action is not adopted', async (t) => {
  const bench = new Bench()
  handIn(bench, 'a')
  const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 1 }
  const brought = { attemptId: 'a-1', operationName: 'operations/a', queuedMs: 0, request: requestOf('b') }
  const past = { attemptIds: ['a-1'], brought: new Map([['a-1', brought]]) }
  bench.do(bench.machine.workerConnected(0, 'w', offer, past))
  t.match(bench.of('kill'), [{ attemptId: 'a-1' }])
})

t.test('workers have the time of adoption to come back before an operation is told that none can run it', async (t) => {
  const bench = new Bench({ noWorkerTimeoutMs: 1_000, adoptForMs: 20_000 })
  const fresh = bench.enqueue([['os', 'linux']], { action: 'fresh' })
  handIn(bench, 'a')
  bench.pass(2_000)
  t.match(bench.failure(fresh)?.message, /no worker/)
  bench.pass(17_000)
  t.match(bench.state('operations/a'), { stage: 'QUEUED' })
  bench.pass(2_000)
  t.match(bench.failure('operations/a')?.message, /no worker/)
})

t.test('the state of an operation tells what the next scheduler has to know', async (t) => {
  const bench = new Bench()
  bench.nowMs = 1_000
  const name = bench.enqueue([], { action: 'a' })
  t.match(bench.state(name)?.past, { queuedMs: 1_000, attempts: 0, failures: 0 })
  bench.worker('w')
  t.match(bench.state(name)?.past, { queuedMs: 1_000, attempts: 1, running: { attemptId: '1-1', workerId: 'w' } })
  bench.finish('w', '1-1')
  t.equal(bench.state(name)?.past, undefined)
})
