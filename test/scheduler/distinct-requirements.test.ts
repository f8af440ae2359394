import fc from 'fast-check'
import t from 'tap'
import type { Bucket } from '../../src/scheduler/simple/queue/bucket.js'
import { byShare, type Share, type Tenant } from '../../src/scheduler/simple/queue/tenants.js'
import type { Execution, Worker } from '../../src/scheduler/simple/state/state.js'
import { hasRoomSoon } from '../../src/scheduler/simple/workers/pool.js'
import { Bench, type Pairs } from './bench.js'

const AGEING_MS = 1_000

const isSooner = (a: Execution, b: Execution): boolean =>
  a.rank === b.rank ? a.sequence < b.sequence : a.rank < b.rank

/** The order of `Queue`, by looking at all that waits. */
const bestOfAll = (
  worker: Worker,
  buckets: Iterable<Bucket>,
  maxRunning: number,
  nowMs: number,
): Execution | undefined => {
  const fitting = [...buckets].filter(({ requirement, capable }) => {
    const isCapable = [...capable].some(({ workers }) => workers.has(worker))
    return isCapable && hasRoomSoon(worker, requirement)
  })
  const inOrder = (a: Tenant, b: Tenant) => byShare(a, b) || a.waitingSince - b.waitingSince
  const [tenant] = fitting
    .flatMap(({ lanes }) => [...lanes.keys()])
    .filter(({ running }) => running < maxRunning)
    .sort(inOrder)
  if (tenant === undefined) return undefined
  const fronts: { share: Share; execution: Execution }[] = []
  for (const { lanes } of fitting) {
    for (const [share, { first }] of lanes.get(tenant) ?? [])
      if (first !== undefined) fronts.push({ share, execution: first })
  }
  const urgent = Math.min(...fronts.map(({ execution }) => execution.priority))
  const level = ({ priority, queuedMs }: Execution) =>
    priority <= urgent ? priority : Math.max(urgent, priority - Math.floor((nowMs - queuedMs) / AGEING_MS))
  let best = fronts[0]
  for (const front of fronts) {
    if (best === undefined) continue
    const order = level(front.execution) - level(best.execution) || byShare(front.share, best.share)
    if (order < 0 || (order === 0 && isSooner(front.execution, best.execution))) best = front
  }
  return best?.execution
}

const declared = new Map([
  ['os', 'exact'],
  ['pool', 'priority'],
  ['cpu', 'minimum'],
  ['memory_kb', 'minimum'],
] as const)

interface Action {
  readonly cpu: number | undefined
  readonly memory: number | undefined
  readonly os: string | undefined
  readonly hasPool: boolean
  readonly priority: number
  readonly instance: number
  readonly invocation: number
  readonly waitMs: number
}

const amount = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 1_000 }), fc.maxSafeNat())

const action: fc.Arbitrary<Action> = fc.record({
  cpu: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
  memory: fc.option(amount, { nil: undefined, freq: 20 }),
  os: fc.constantFrom(undefined, undefined, undefined, 'linux', 'mac'),
  hasPool: fc.nat(5).map((drawn) => drawn === 0),
  priority: fc.integer({ min: -3, max: 3 }),
  instance: fc.nat(1),
  invocation: fc.nat(1),
  waitMs: fc.nat(150),
})

const pairsOf = ({ cpu, memory, os, hasPool }: Action): Pairs => [
  ...(cpu === undefined ? [] : [['cpu', String(cpu)] as const]),
  ...(memory === undefined ? [] : [['memory_kb', String(memory)] as const]),
  ...(os === undefined ? [] : [['os', os] as const]),
  ...(hasPool ? [['pool', 'x'] as const] : []),
]

t.test('many distinct amounts: the next action is the one that a look at all of them finds', async (t) => {
  let compared = 0
  const property = fc.property(
    fc.array(action, { minLength: 1, maxLength: 60, size: 'max' }),
    fc.array(fc.tuple(fc.nat(100), fc.nat(100)), { maxLength: 60, size: 'max' }),
    (actions, steps) => {
      const maxRunningPerInstance = 4
      const bench = new Bench({
        ...{ supportedPlatformProperties: declared, priorityAgeingMs: AGEING_MS, maxRunningPerInstance },
        ...{ holdWorkerAfterMs: 2_000, workerTimeoutMs: 1e9, fallbackMatchIntervalMs: undefined },
      })
      const { dispatch, workers } = bench.machine.inspect()
      const check = () => {
        for (const worker of workers.all) {
          const { queue } = dispatch
          const expected = bestOfAll(worker, queue.buckets, maxRunningPerInstance, bench.nowMs)
          const found = queue.bestFor(worker, bench.nowMs)
          if (found !== expected) throw new Error(`${found?.id} instead of ${expected?.id}`)
          compared++
        }
      }
      const names: string[] = []
      for (const one of actions) {
        bench.nowMs += one.waitMs
        const parts = { priority: one.priority, instance: `i${one.instance}`, invocation: `b${one.invocation}` }
        names.push(bench.enqueue(pairsOf(one), parts))
      }
      // Workers are compared before they start anything, with and without amounts that are taken.
      for (const worker of ['a', 'b', 'c']) {
        const free = dispatch.feed
        const before = { worker, taken: 0 }
        dispatch.feed = (one: Worker) => {
          const { queue } = dispatch
          if (queue.bestFor(one, bench.nowMs) !== bestOfAll(one, queue.buckets, maxRunningPerInstance, bench.nowMs))
            throw new Error(`another one for ${before.worker}`)
          compared++
          free.call(dispatch, one)
        }
        const offer = [
          ['os', 'linux', 'mac'],
          ['cpu', '7'],
          ['memory_kb', '800'],
          ...(worker === 'c' ? [] : [['pool', 'p']]),
        ]
        bench.worker(worker, offer as never, worker === 'b' ? 2 : 5, 1)
        check()
      }
      for (const [kind, index] of steps) {
        bench.nowMs += index * 3
        const starts = bench.of('start')
        if (kind % 3 > 0) {
          const { workerId = '', start } = starts[index % (starts.length || 1)] ?? {}
          bench.finish(workerId, start?.attemptId ?? '')
        } else bench.cancel(names[index % names.length] ?? '')
        if (kind % 5 === 0) bench.pass(100, ['a', 'b', 'c'])
        check()
      }
    },
  )
  fc.assert(property, { numRuns: Number(process.env['REMEXEC_RUNS'] ?? 300), seed: 20_261_128 })
  t.ok(compared > 1_000, `${compared} choices`)
})

t.test('an old action ages up to the best priority that waits, whatever amounts that one needs', async (t) => {
  const bench = new Bench({
    ...{ supportedPlatformProperties: declared, priorityAgeingMs: AGEING_MS, workerTimeoutMs: 1e9 },
    ...{ holdWorkerAfterMs: undefined },
  })
  bench.worker('w', [['memory_kb', '100']], 1)
  const memory = (amount: number): Pairs => [['memory_kb', String(amount)]]
  bench.enqueue(memory(1), { invocation: 'a' })
  const old = bench.enqueue(memory(2), { invocation: 'a', priority: 3 })
  bench.nowMs = 2_400
  bench.enqueue(memory(4), { invocation: 'b', priority: 2 })
  bench.nowMs = 2_500
  bench.enqueue(memory(70), { invocation: 'a', priority: 1 })
  bench.enqueue(memory(120), { invocation: 'a', priority: 9 })
  bench.finish('w', bench.of('start')[0]?.start.attemptId ?? '')
  t.match(bench.starts.at(-1), new RegExp(`${old} `), 'level 1 of invocation a before level 2 of b')
})

/** Nodes, lanes and groups looked at for each start, with as many actions of distinct amounts. */
const stepsPerStart = (distinct: number, pairs: (index: number) => Pairs): number => {
  const runs = 200
  const bench = new Bench({ supportedPlatformProperties: declared, workerTimeoutMs: 1e9, holdWorkerAfterMs: undefined })
  // Room for a part of what waits only, so that the search has something to avoid.
  for (const id of ['v', 'w'])
    bench.worker(
      id,
      [
        ['cpu', '64'],
        ['memory_kb', '6000'],
      ],
      4,
    )
  for (let index = 0; index < 10_000; index++)
    bench.enqueue(pairs(index % distinct), {
      instance: `i${index % 3}`,
      invocation: `b${index % 7}`,
      priority: index % 5,
    })
  const { queue } = bench.machine.inspect().dispatch
  const before = queue.steps
  let started = bench.of('start')
  for (let run = 0; run < runs; run++) {
    const [{ workerId, start } = { workerId: '', start: undefined }] = started
    const known = bench.commands.length
    bench.finish(workerId, start?.attemptId ?? '')
    const more = bench.commands.slice(known).flatMap((command) => (command.kind === 'start' ? [command] : []))
    started = [...started.slice(1), ...more]
  }
  return (queue.steps - before) / runs
}

t.test('10,000 distinct amounts: a start looks at as few places as with one', async (t) => {
  const one = stepsPerStart(1, () => [['memory_kb', '1000']])
  const many = stepsPerStart(10_000, (index) => [['memory_kb', String(1_000 + index)]])
  t.ok(many < 30 * one, `${many} places for a start instead of ${one}`)
  const two = stepsPerStart(10_000, (index) => [
    ['cpu', String(1 + (index % 100))],
    ['memory_kb', String(1_000 + index)],
  ])
  t.ok(two < 1_500, `${two} places for a start with two amounts`)
  t.comment({ one, many, two })
})
