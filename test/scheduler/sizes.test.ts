/** Memory and processors of actions by their past, and what becomes of those that the kernel ended for their memory. */
import t from 'tap'
import { pack } from '../../src/proto/any.js'
import { codec } from '../../src/proto/codec.js'
import { durationOf, timestampOf } from '../../src/proto/time.js'
import { actionFields } from '../../src/scheduler/simple/action-line.js'
import type { MatchKind } from '../../src/scheduler/simple/state/requirement.js'
import { Bench, type Pairs } from './bench.js'

const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const usageCodec = codec('remexec.worker.v1.CommandUsage')
const KIB = 1024
const MIB = 1024 * KIB
/** In KiB. */
const STEP = 64 * KIB

const supportedPlatformProperties = new Map<string, MatchKind>([
  ['memory_kb', 'minimum'],
  ['cpu_count', 'minimum'],
])

interface Took {
  readonly peakBytes: number
  /** Of processors, in ten seconds. */
  readonly busyMs?: number
  readonly limitBytes?: number
}

/** The response of a worker. With a limit the kernel ended the action there. */
const took = ({ peakBytes, busyMs = 1_000, limitBytes = 0 }: Took) => {
  const usage = pack(usageCodec, {
    ...{ userTime: durationOf(busyMs), systemTime: durationOf(0), memoryPeakBytes: peakBytes },
    ...{ memoryLimitBytes: limitBytes, memoryExceeded: limitBytes > 0 },
  })
  const executionMetadata = {
    executionStartTimestamp: timestampOf(0),
    executionCompletedTimestamp: timestampOf(10_000),
    auxiliaryMetadata: [usage],
  }
  const status = limitBytes > 0 ? { code: 8, message: 'the action was ended: it needed more memory' } : null
  return responseCodec.decode(
    responseCodec.encode({ result: { exitCode: limitBytes > 0 ? 137 : 0, executionMetadata }, status }),
  )
}

const benchOf = (use: 'off' | 'hint' | 'on', slots = 1): Bench => {
  const learnedSizes = { use, memory: 'memory_kb', cpu: 'cpu_count' }
  const bench = new Bench({ supportedPlatformProperties, learnedSizes })
  bench.worker(
    'w',
    [
      ['memory_kb', String(16 * STEP)],
      ['cpu_count', '8'],
    ],
    slots,
  )
  return bench
}

const asked = (memoryKb: number): Pairs => [['memory_kb', String(memoryKb)]]
const of = { target: '//a:b', mnemonic: 'CppLink' }
const lastStart = (bench: Bench) => {
  const start = bench.of('start').at(-1)?.start
  if (start === undefined) throw new Error('nothing was started')
  return start
}
const propertiesOf = (bench: Bench): Record<string, string> =>
  Object.fromEntries(lastStart(bench).request.properties.map(({ name, value }) => [name, value]))
const reserved = (bench: Bench): Record<string, number> => {
  const [attempt] = [...bench.machine.inspect().dispatch.attempts.values()].slice(-1)
  return Object.fromEntries(attempt?.requirement?.minimum ?? [])
}
const finish = (bench: Bench, usage: Took): void => bench.finish('w', lastStart(bench).attemptId, took(usage))

t.test(
  'an action reserves a fifth more memory than its last runs had, and the processors that it kept busy',
  async (t) => {
    const b = benchOf('on')
    b.enqueue([], of)
    t.same(reserved(b), {})
    finish(b, { peakBytes: 100 * MIB, busyMs: 31_000 })
    b.enqueue([], of)
    t.same(reserved(b), { memory_kb: 2 * STEP, cpu_count: 3 })
    t.same(propertiesOf(b), {}, 'no limit follows from it: its author has set none')
    finish(b, { peakBytes: 200 * MIB })
    b.enqueue(asked(8 * STEP), of)
    t.same(reserved(b), { memory_kb: 8 * STEP, cpu_count: 3 }, 'it may ask for more')
    finish(b, { peakBytes: MIB })
    b.enqueue([], { ...of, mnemonic: 'GoLink' })
    t.same(reserved(b), {}, 'of another mnemonic nothing is known')
    finish(b, { peakBytes: MIB })
    for (let run = 0; run < 8; run++) {
      b.enqueue([], of)
      finish(b, { peakBytes: MIB })
    }
    b.enqueue([], of)
    t.same(reserved(b), { memory_kb: STEP, cpu_count: 1 }, 'eight runs count')
  },
)

t.test('nothing is reserved that no worker has', async (t) => {
  const b = benchOf('on')
  b.enqueue([], of)
  finish(b, { peakBytes: 16 * 64 * MIB })
  b.enqueue([], of)
  t.same(reserved(b), {})
})

t.test(
  'an action that ended for its memory runs again with twice as much, and its next runs begin with that',
  async (t) => {
    const b = benchOf('on')
    const name = b.enqueue(asked(100), of)
    for (const memoryKb of [100, 200, 400]) {
      t.same(propertiesOf(b), { memory_kb: String(memoryKb) })
      finish(b, { peakBytes: memoryKb * KIB, limitBytes: memoryKb * KIB })
      t.equal(b.state(name)?.stage, 'EXECUTING')
    }
    finish(b, { peakBytes: 700 * KIB })
    t.match(b.state(name), { stage: 'COMPLETED', outcome: { response: { status: null } } })
    t.equal(b.of('start').length, 4)
    t.same(
      b.of('start').map(({ start }) => start.attemptId),
      ['1-1', '1-2', '1-3', '1-4'],
    )
    b.enqueue(asked(100), of)
    t.same(propertiesOf(b), { memory_kb: '800' })
  },
)

t.test('it gets more three times, and not more than a worker has', async (t) => {
  const b = benchOf('on')
  const name = b.enqueue(asked(100), of)
  for (const memoryKb of [100, 200, 400, 800]) finish(b, { peakBytes: KIB, limitBytes: memoryKb * KIB })
  t.match(b.state(name), { stage: 'COMPLETED', outcome: { response: { status: { code: 8 } } } })
  const large = b.enqueue(asked(9 * STEP), { target: '//c:d' })
  finish(b, { peakBytes: KIB, limitBytes: 9 * STEP * KIB })
  t.match(b.state(large), { stage: 'COMPLETED', outcome: { response: { status: { code: 8 } } } })
})

t.test('a limit that the action did not ask for is final', async (t) => {
  const b = benchOf('on')
  for (const pairs of [asked(100), []]) {
    const name = b.enqueue(pairs, of)
    finish(b, { peakBytes: 50 * KIB, limitBytes: 50 * KIB })
    t.match(b.state(name), { stage: 'COMPLETED', outcome: { response: { status: { code: 8 } } } })
  }
})

t.test('hint: the log says what would be reserved, and nothing changes; off: nothing is learned', async (t) => {
  for (const use of ['hint', 'off'] as const) {
    const b = benchOf(use)
    b.enqueue(asked(100), of)
    finish(b, { peakBytes: 100 * MIB, busyMs: 31_000 })
    const name = b.enqueue(asked(100), of)
    t.same(reserved(b), { memory_kb: 100 })
    finish(b, { peakBytes: KIB, limitBytes: 100 * KIB })
    t.equal(b.state(name)?.stage, 'COMPLETED')
    const [ended] = b.of('ended').slice(-1)
    const fields = ended === undefined ? {} : actionFields(ended.ended)
    t.match(fields, use === 'hint' ? { learnedMemoryKb: 2 * STEP, learnedCpus: 3 } : {})
    t.equal('learnedCpus' in fields, use === 'hint')
  }
})

t.test('an action that ends without a result is told with what it needed by its past', async (t) => {
  const b = benchOf('hint')
  b.enqueue([], of)
  finish(b, { peakBytes: 100 * MIB, busyMs: 31_000 })
  b.do(b.machine.cancel(b.nowMs, b.enqueue([], of)))
  const [ended] = b.of('ended').slice(-1)
  t.match(ended && actionFields(ended.ended), { result: 'cancelled', learnedMemoryKb: 2 * STEP, learnedCpus: 3 })
})

t.test('operators are told what was learned, what was used last first, and what follows', async (t) => {
  const b = benchOf('on')
  const told = () => b.machine.inspect().sizes.overview()
  const name = b.enqueue(asked(100), { ...of, instance: 'main', scope: 'branch' })
  finish(b, { peakBytes: 50 * MIB, busyMs: 25_000, limitBytes: 100 * KIB })
  finish(b, { peakBytes: 100 * MIB, busyMs: 14_000 })
  t.equal(b.state(name)?.stage, 'COMPLETED')
  b.enqueue([], { mnemonic: 'Other' })
  finish(b, { peakBytes: 0 })
  t.match(told(), { use: 'on', compared: ['memory_kb', 'cpu_count'] })
  t.same(
    [...told().kinds],
    [
      {
        ...{ instance: '', mnemonic: 'Other', raisedBytes: 0 },
        memory: { runs: 0, mostBytes: 0, nextBytes: 0 },
        cpus: { runs: 1, most: 0.1, next: 1 },
      },
      {
        ...{ instance: 'main', scope: 'branch', ...of, raisedBytes: 200 * KIB },
        memory: { runs: 2, mostBytes: 100 * MIB, nextBytes: 2 * STEP * KIB },
        cpus: { runs: 2, most: 2.5, next: 3 },
      },
    ],
  )
  t.same([...benchOf('off').machine.inspect().sizes.overview().kinds], [])
})

t.test('what one instance or scope has run says nothing about another', async (t) => {
  const b = benchOf('on', 4)
  b.enqueue([], of)
  finish(b, { peakBytes: 100 * MIB })
  b.enqueue([], { ...of, instance: 'other' })
  t.same(reserved(b), {})
  b.enqueue([], { ...of, scope: 'branch' })
  t.same(reserved(b), {})
})
