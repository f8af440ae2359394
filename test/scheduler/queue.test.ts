import t from 'tap'
import type { MatchKind } from '../../src/scheduler/simple/state/requirement.js'
import { Bench } from './bench.js'

const declared = new Map<string, MatchKind>([
  ['cpu', 'minimum'],
  ['os', 'exact'],
])

/** Ends the attempts on `w` one after the other. Returns the owners of the operations that start in their place. */
const drainOneByOne = (bench: Bench, count: number, ownerOf: (name: string) => string): string[] => {
  const owners: string[] = []
  for (let run = 0; run < count; run++) {
    const { start } = bench.of('start').at(-1) ?? {}
    if (start === undefined) throw new Error('nothing runs')
    owners.push(ownerOf(start.operationName))
    bench.commands.length = 0
    bench.finish('w', start.attemptId)
  }
  return owners
}

const countOf = (owners: readonly string[], owner: string): number => owners.filter((one) => one === owner).length

t.test('max_queued_actions_per_instance: rejects one instance, not the others', async (t) => {
  const bench = new Bench({ maxQueuedActionsPerInstance: 2 })
  bench.enqueue([], { instance: 'a' })
  bench.enqueue([], { instance: 'a' })
  const message = /the queue is full for instance "a": 2 of its actions wait \(max_queued_actions_per_instance\)/
  t.throws(() => bench.enqueue([], { instance: 'a' }), { code: 8, message })
  t.doesNotThrow(() => bench.enqueue([], { instance: 'b' }))
  bench.worker('w', [], 1)
  t.doesNotThrow(() => bench.enqueue([], { instance: 'a' }), 'one of its actions was started')
})

t.test('max_running_actions_per_instance: other instances get the remaining slots', async (t) => {
  const bench = new Bench({ maxRunningPerInstance: 1 })
  bench.worker('w', [], 3)
  const [first] = [bench.enqueue([], { instance: 'a' }), bench.enqueue([], { instance: 'a' })]
  bench.enqueue([['os', 'x']], { instance: 'b' })
  t.equal(bench.starts.length, 1, 'a is at its cap, b needs a property that no worker has')
  bench.worker('x', [['os', 'x']], 1)
  t.equal(bench.starts.length, 2)
  bench.finish('w', bench.of('start')[0]?.start.attemptId ?? '')
  t.match(bench.state(first), { stage: 'COMPLETED' })
  t.equal(bench.starts.length, 3, 'the second action of a starts')
})

t.test('an instance at its cap that loses an attempt starts another one at once', async (t) => {
  const bench = new Bench({ maxRunningPerInstance: 1, workerTimeoutMs: 1_000 })
  bench.worker('w', [['os', 'x']])
  bench.worker('v', [])
  bench.enqueue([['os', 'x']], { instance: 'a' })
  bench.enqueue([], { instance: 'a' })
  t.equal(bench.starts.length, 1)
  bench.pass(2_000, ['v'])
  t.match(bench.starts.at(-1), /^v /, 'the slot of the lost attempt is free')
})

t.test('instances share the workers equally, whatever their order and load', async (t) => {
  const bench = new Bench({ maxQueuedActions: 100_000 })
  const owner = new Map<string, string>()
  const queue = (instance: string, count: number) => {
    for (let index = 0; index < count; index++) owner.set(bench.enqueue([], { instance }), instance)
  }
  queue('a', 1_000)
  queue('b', 100)
  bench.worker('w', [], 1)
  const early = drainOneByOne(bench, 100, (name) => owner.get(name) ?? '')
  t.same([countOf(early, 'a'), countOf(early, 'b')], [50, 50])
  queue('c', 100)
  const later = drainOneByOne(bench, 90, (name) => owner.get(name) ?? '')
  t.ok(Math.abs(countOf(later, 'c') - 30) <= 1, `c has its third from now on and no more: ${countOf(later, 'c')}`)
})

t.test('invocations of one instance share its slots', async (t) => {
  const bench = new Bench()
  const owner = new Map<string, string>()
  for (const invocation of ['big', 'small']) {
    for (let index = 0; index < (invocation === 'big' ? 200 : 20); index++) {
      owner.set(bench.enqueue([], { invocation }), invocation)
    }
  }
  bench.worker('w', [], 1)
  const owners = drainOneByOne(bench, 40, (name) => owner.get(name) ?? '')
  t.same([countOf(owners, 'big'), countOf(owners, 'small')], [20, 20])
})

t.test('priority_ageing_s: actions of low priority are not starved', async (t) => {
  for (const [priorityAgeingMs, expected] of [
    [10_000, true],
    [undefined, false],
  ] as const) {
    const bench = new Bench({ priorityAgeingMs, workerTimeoutMs: 1_000_000 })
    const patient = bench.enqueue([], { priority: 3 })
    bench.enqueue()
    bench.worker('w', [], 1)
    for (let second = 0; second < 60; second++) {
      bench.enqueue()
      bench.pass(1_000)
      bench.finish('w', bench.of('start').at(-1)?.start.attemptId ?? '')
    }
    t.equal(bench.state(patient)?.stage !== 'QUEUED', expected)
  }
})

t.test('hold_worker_after_s: an action that needs a whole worker is not starved by small ones', async (t) => {
  const bench = new Bench({
    supportedPlatformProperties: declared,
    holdWorkerAfterMs: 5_000,
    noWorkerTimeoutMs: undefined,
  })
  bench.worker('w', [['cpu', '4']])
  for (let index = 0; index < 4; index++) bench.enqueue([['cpu', '1']])
  const large = bench.enqueue([['cpu', '4']])
  const running = bench.of('start').map(({ start }) => start.attemptId)
  let ends = 0
  for (let round = 0; round < 40 && bench.state(large)?.stage === 'QUEUED'; round++) {
    bench.enqueue([['cpu', '1']])
    bench.pass(1_000, ['w'])
    const before = bench.of('start').length
    bench.finish('w', running.shift() ?? '')
    ends++
    running.push(
      ...bench
        .of('start')
        .slice(before)
        .map(({ start }) => start.attemptId),
    )
  }
  t.equal(bench.state(large)?.stage, 'EXECUTING')
  t.ok(ends <= 10, `${ends} small ones ended before it had the worker`)
  bench.cancel(large)
  t.equal(bench.of('kill').length, 1)
  bench.fail('w', bench.of('kill')[0]?.attemptId ?? '')
  t.equal(bench.of('start').length > 6, true, 'the worker starts small actions again')
})

t.test('three tenants with 10,000 queued actions: each gets a third of the worker time', async (t) => {
  const bench = new Bench({ maxQueuedActions: 100_000, workerTimeoutMs: 1e9 })
  const owner = new Map<string, string>()
  const takesMs = { short: 100, long: 700, mixed: 300 }
  const counts = { short: 6_000, long: 1_500, mixed: 2_500 }
  for (const tenant of ['short', 'long', 'mixed'] as const) {
    for (let index = 0; index < counts[tenant]; index++) owner.set(bench.enqueue([], { instance: tenant }), tenant)
  }
  t.equal(owner.size, 10_000)
  for (let index = 0; index < 12; index++) bench.worker(`w${index}`, [], 2)
  const busyMs = { short: 0, long: 0, mixed: 0 }
  const running: { readonly untilMs: number; readonly worker: string; readonly attempt: string }[] = []
  const take = () => {
    for (const { workerId, start } of bench.of('start')) {
      const tenant = owner.get(start.operationName) as keyof typeof busyMs
      const ms = takesMs[tenant]
      busyMs[tenant] += ms
      running.push({ untilMs: bench.nowMs + ms, worker: workerId, attempt: start.attemptId })
    }
    bench.commands.length = 0
  }
  take()
  for (const endMs = 40_000; bench.nowMs < endMs; ) {
    running.sort((a, b) => b.untilMs - a.untilMs)
    const next = running.pop()
    if (next === undefined) throw new Error('nothing runs')
    bench.nowMs = next.untilMs
    bench.finish(next.worker, next.attempt)
    take()
  }
  const all = busyMs.short + busyMs.long + busyMs.mixed
  for (const [tenant, ms] of Object.entries(busyMs)) {
    const error = Math.abs(ms / (all / 3) - 1)
    t.ok(error < 0.1, `${tenant}: ${(100 * error).toFixed(1)} % beside its third`)
  }
})
