import t from 'tap'
import { Code, StatusError } from '../../src/base/status-error.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { codec } from '../../src/proto/codec.js'
import { ofThirdParty } from '../../src/proto/error-details.js'
import { overview } from '../../src/scheduler/simple/overview.js'
import type { SimpleSettings } from '../../src/scheduler/simple/settings.js'
import type { MatchKind } from '../../src/scheduler/simple/state/requirement.js'
import { Bench, error, type Pairs, response } from './bench.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
/** As it comes from the wire: a spread of a decoded message would lose its defaults. */
const resultOf = (stdoutBytes: number) =>
  resultCodec.decode(resultCodec.encode({ stdoutRaw: Buffer.alloc(stdoutBytes) }))

t.test('supported_platform_properties: which worker may run an action', async (t) => {
  const cases: [string, Pairs, (readonly [string, ...string[]])[], boolean][] = [
    ['nothing asked', [], [], true],
    ['exact', [['os', 'linux']], [['os', 'linux']], true],
    ['exact, another value', [['os', 'linux']], [['os', 'mac']], false],
    ['exact, not offered', [['os', 'linux']], [], false],
    ['exact, one of several', [['os', 'linux']], [['os', 'mac', 'linux']], true],
    ['exact, is no prefix', [['os', 'lin']], [['os', 'linux']], false],
    [
      'exact twice, both offered',
      [
        ['os', 'linux'],
        ['os', 'gnu'],
      ],
      [['os', 'gnu', 'linux']],
      true,
    ],
    [
      'exact twice, one offered',
      [
        ['os', 'linux'],
        ['os', 'gnu'],
      ],
      [['os', 'linux']],
      false,
    ],
    ['minimum, as much', [['cpu', '4']], [['cpu', '4']], true],
    ['minimum, too little', [['cpu', '4']], [['cpu', '3']], false],
    ['minimum compares numbers', [['cpu', '9']], [['cpu', '10']], true],
    ['minimum, not offered', [['cpu', '0']], [], false],
    ['minimum, the largest value counts', [['cpu', '4']], [['cpu', '2', '8']], true],
    [
      'minimum twice, the larger counts',
      [
        ['cpu', '2'],
        ['cpu', '5'],
      ],
      [['cpu', '4']],
      false,
    ],
    ['priority, any value', [['pool', 'a']], [['pool', 'b']], true],
    ['priority, not offered', [['pool', 'a']], [], false],
    ['ignore', [['label', 'a']], [], true],
    ['a worker may offer what nobody declared', [], [['gpu', 'x']], true],
  ]
  for (const [title, asked, offered, runs] of cases) {
    const bench = new Bench()
    bench.worker('w', offered)
    bench.enqueue(asked)
    t.equal(bench.of('start').length, Number(runs), title)
    t.equal(bench.of('log').length, Number(!runs), `${title}: said when nobody can`)
    if (runs)
      t.equal(bench.of('start')[0]?.start.request.properties.length, asked.length, `${title}: all are passed on`)
  }
  const bench = new Bench()
  const refused = (pairs: Pairs, message: RegExp) =>
    t.throws(() => bench.enqueue(pairs), { code: Code.INVALID_ARGUMENT, message })
  // Bazel adds them by itself with --experimental_remote_mark_tool_inputs.
  bench.machine.checkPlatform([
    { name: 'persistentWorkerKey', value: 'f'.repeat(64) },
    { name: 'persistentWorkerProtocol', value: 'json' },
  ])
  for (const settings of [{}, { supportedPlatformProperties: new Map([['*', 'exact'] as const]) }]) {
    const strict = new Bench(settings)
    strict.worker('w', [])
    strict.enqueue([['persistentWorkerKey', 'f']])
    t.match(strict.of('start'), [{ start: { request: { properties: [{ name: 'persistentWorkerKey' }] } } }])
  }
  const listed = new Bench({ supportedPlatformProperties: new Map([['persistentWorkerKey', 'exact']]) })
  listed.worker('w', [])
  listed.enqueue([['persistentWorkerKey', 'f']])
  t.same(listed.of('start'), [], 'one that is listed is matched as it is listed')
  refused([['gpu', '1']], /"gpu" is not supported here, expected one of os, cpu, pool, label/)
  for (const value of ['', '-1', '1.5', '1e3', 'many', '99999999999999999']) refused([['cpu', value]], /whole number/)
  t.throws(() => bench.worker('w', [['cpu', 'x']]), { code: Code.INVALID_ARGUMENT })
})

t.test('an undeclared property is matched as `*` declares, and rejected without `*`', async (t) => {
  const cases: [string, MatchKind, Pairs, (readonly [string, ...string[]])[], boolean][] = [
    [
      'ignored',
      'ignore',
      [
        ['ISA', 'x86-64'],
        ['execroot-path', '/b'],
      ],
      [],
      true,
    ],
    ['a declared one is still matched as declared', 'ignore', [['os', 'linux']], [['os', 'mac']], false],
    ['exact', 'exact', [['ISA', 'x86-64']], [['ISA', 'arm']], false],
    ['minimum', 'minimum', [['gpus', '2']], [['gpus', '1']], false],
    ['minimum, enough', 'minimum', [['gpus', '2']], [['gpus', '2']], true],
  ]
  for (const [title, others, asked, offered, runs] of cases) {
    const bench = new Bench({
      supportedPlatformProperties: new Map([
        ['os', 'exact'],
        ['*', others],
      ]),
    })
    bench.worker('w', offered)
    bench.enqueue(asked)
    t.equal(bench.of('start').length, Number(runs), title)
  }
})

t.test('an action that names an image runs only where actions run in images', async (t) => {
  const image = (value: string): Pairs => [['container-image', value]]
  const benchOf = (...kinds: readonly (readonly [string, MatchKind])[]): Bench =>
    new Bench({ supportedPlatformProperties: new Map(kinds) })
  const errorOf = (bench: Bench, name = 'operations/1') => {
    const outcome = bench.machine.get(name)?.outcome
    return outcome !== undefined && 'error' in outcome ? outcome.error : undefined
  }

  const without = benchOf(['*', 'ignore'])
  without.worker('plain')
  without.enqueue(image('docker://gcc:13'))
  without.enqueue([['docker-image', 'docker://clang']])
  t.same(without.starts, [], 'not on the own system of a worker')
  t.match(without.machine.explained('operations/1')?.progress?.waitsFor, /none runs actions in images/)
  without.pass(9_000, ['plain'])
  t.equal(errorOf(without), undefined, 'a worker that restarts has time to connect')
  without.pass(2_000, ['plain'])
  for (const name of ['operations/1', 'operations/2'])
    t.match(errorOf(without, name), { code: 9, message: /container_images.*'container-image': 'ignore'/ })
  without.enqueue(image('none'))
  t.equal(without.starts.length, 1, '`none` asks for no image')

  const mixed = benchOf(['*', 'ignore'])
  mixed.worker('plain')
  mixed.enqueue(image('docker://gcc:13'))
  mixed.worker('images', [], 4, 0, true)
  t.same(mixed.starts, ['images operations/1 1-1'])
  mixed.finish('images', '1-1')
  mixed.do(mixed.machine.workerDisconnected(mixed.nowMs, 'images'))
  mixed.enqueue(image('docker://gcc:13'))
  mixed.pass(50_000, ['plain'])
  t.equal(errorOf(mixed, 'operations/2'), undefined, 'a fleet that had such workers waits for them')

  const none = benchOf(['*', 'ignore'])
  none.enqueue(image('docker://gcc:13'))
  none.pass(50_000)
  t.equal(errorOf(none), undefined, 'without any worker it waits for one')

  const ignored = benchOf(['container-image', 'ignore'], ['*', 'ignore'])
  ignored.worker('plain')
  ignored.enqueue(image('docker://gcc:13'))
  t.equal(ignored.starts.length, 1, 'where the configuration says so by name, it runs on the own system')

  const exact = benchOf(['container-image', 'exact'])
  exact.worker('images', [], 4, 0, true)
  exact.enqueue(image('docker://gcc:13'))
  exact.worker('this', [['container-image', 'docker://gcc:13']])
  t.same(exact.starts, ['this operations/1 1-1'], 'exact is exact')
})

t.test('a registry that is away sets no worker aside', async (t) => {
  const bench = new Bench({ supportedPlatformProperties: new Map([['*', 'ignore']]), maxJobRetries: 0 })
  bench.worker('images', [], 4, 0, true)
  const away = new StatusError('UNAVAILABLE', 'the registry is away', { details: [ofThirdParty('IMAGE_REGISTRY')] })
  for (let number = 1; number <= 5; number++) {
    bench.enqueue([['container-image', `docker://nowhere.example/a:${number}`]])
    bench.do(bench.machine.workerError(bench.nowMs, 'images', `${number}-1`, away))
    bench.pass(5_000, ['images'])
  }
  bench.enqueue()
  t.equal(bench.starts.at(-1), 'images operations/6 6-1', 'it still takes actions')
})

t.test('minimum properties are reserved while the command runs', async (t) => {
  const bench = new Bench()
  bench.worker('w', [['cpu', '4']])
  for (const cpu of ['3', '2', '1']) bench.enqueue([['cpu', cpu]])
  t.same(bench.starts, ['w operations/1 1-1', 'w operations/3 3-1'], 'actions 1 and 3 fit, action 2 waits')
  bench.do(bench.machine.progress(0, 'w', '1-1', 2))
  t.equal(bench.starts.length, 2)
  bench.do(bench.machine.progress(0, 'w', '1-1', 3))
  t.equal(bench.starts.at(-1), 'w operations/2 2-1', 'the reservation is released when uploading starts')
  bench.enqueue([['cpu', '2']])
  bench.finish('w', '1-1')
  t.equal(bench.starts.length, 3, 'the reservation is released only once')
  bench.finish('w', '3-1')
  bench.finish('w', '2-1')
  t.equal(bench.starts.at(-1), 'w operations/4 4-1')
})

t.test('minimum properties are released once, however an attempt ends', async (t) => {
  const uploads = (bench: Bench) => bench.do(bench.machine.progress(bench.nowMs, 'w', '1-1', 3))
  const comesBack = (bench: Bench, attemptIds: readonly string[]) => {
    bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
    const offer = { name: 'w', properties: new Map([['cpu', ['4']]]), maxInflightAttempts: 8 }
    bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, { attemptIds }))
  }
  const ends: Readonly<Record<string, (bench: Bench, name: string) => void>> = {
    'a result': (bench) => bench.finish('w', '1-1'),
    'a result that comes twice': (bench) => {
      bench.finish('w', '1-1')
      bench.finish('w', '1-1')
    },
    'a result after the upload of outputs': (bench) => {
      uploads(bench)
      bench.finish('w', '1-1')
    },
    'an error of the worker': (bench) => bench.fail('w', '1-1'),
    'an error while outputs are uploaded': (bench) => {
      uploads(bench)
      bench.fail('w', '1-1')
    },
    'a refusal': (bench) => bench.do(bench.machine.refuse(bench.nowMs, 'w', '1-1', error)),
    'a cancellation': (bench, name) => {
      bench.cancel(name)
      bench.fail('w', '1-1')
    },
    'a cancellation that comes too late': (bench, name) => {
      bench.cancel(name)
      bench.finish('w', '1-1')
    },
    'a run that is stuck': (bench) => {
      bench.pass(60_000, ['w'])
      bench.fail('w', '1-1')
    },
    'a worker that has lost it': (bench, name) => {
      comesBack(bench, [])
      bench.cancel(name)
      bench.fail('w', '1-2')
    },
    'a worker that went and came back with it': (bench) => {
      comesBack(bench, ['1-1'])
      bench.finish('w', '1-1')
    },
    'a worker that went while it uploaded': (bench) => {
      uploads(bench)
      comesBack(bench, ['1-1'])
      bench.finish('w', '1-1')
    },
  }
  for (const [what, end] of Object.entries(ends)) {
    const bench = new Bench({ maxJobRetries: 0, maxActionExecutingTimeoutMs: 60_000 })
    bench.worker('w', [['cpu', '4']], 8)
    const name = bench.enqueue([['cpu', '3']])
    t.same(bench.starts, [`w ${name} 1-1`])
    end(bench, name)
    bench.cancel(name)
    bench.pass(1_100, ['w'])
    const [worker] = bench.machine.inspect().workers.all
    t.match([worker?.left.get('cpu'), worker?.inflight, worker?.attempts.size], [4, 0, 0], what)
    t.equal(bench.state(bench.enqueue([['cpu', '4']]))?.stage, 'EXECUTING', what)
  }
})

t.test('a worker with short actions queues further attempts', async (t) => {
  const bench = new Bench()
  bench.worker('w', [['cpu', '2']], 1, 1)
  for (const cpu of ['1', '1', '2', '1', '1']) bench.enqueue([['cpu', cpu]])
  t.equal(bench.starts.length, 1, 'a new worker queues nothing')
  bench.finish('w', '1-1')
  t.same(
    bench.starts.slice(1),
    ['w operations/2 2-1', 'w operations/4 4-1'],
    'and as many more as may wait, if what they ask for is left',
  )
  const { executions, workers } = bench.machine.activity(bench.nowMs)
  const stages = executions.map(({ stage, workerId, count }) => `${count} ${stage} ${workerId}`)
  t.same(stages, ['3 queued ', '1 executing w'], 'attempts without a slot are not shown as running')
  t.match(workers, [{ running: 1, maxInflightAttempts: 1 }])
  t.match(overview(bench.machine, []).workers, [
    {
      running: 1,
      waiting: 1,
      places: 1,
      attempts: [
        { id: '2-1', state: 'running' },
        { id: '4-1', state: 'waiting' },
      ],
    },
  ])
  bench.nowMs += 50
  bench.do(bench.machine.giveBack(bench.nowMs, 'w', '4-1'))
  t.equal(bench.starts.length, 3, 'an attempt that is given back waits in the queue')
  t.match(bench.state('operations/4'), { stage: 'QUEUED' })
  bench.finish('w', '2-1')
  t.same(bench.starts.slice(3), ['w operations/3 3-1'], 'nothing is queued behind a long action')
  bench.finish('w', '3-1')
  t.same(bench.starts.slice(4), ['w operations/4 4-2', 'w operations/5 5-1'])
  bench.finish('w', '4-2')
  bench.finish('w', '5-1')
  const [worker] = bench.machine.inspect().workers.all
  t.match([worker?.left.get('cpu'), worker?.inflight, worker?.attempts.size], [2, 0, 0], 'everything is released')
})

t.test('an attempt that is given back goes to a worker with a free slot', async (t) => {
  const bench = new Bench({ maxJobRetries: 0 })
  bench.worker('a', [], 1, 1)
  for (let count = 0; count < 3; count++) bench.enqueue()
  bench.finish('a', '1-1')
  t.same(bench.starts.slice(1), ['a operations/2 2-1', 'a operations/3 3-1'])
  bench.worker('b', [], 1, 1)
  t.equal(bench.starts.length, 3, 'attempts that wait at a worker are not withdrawn')
  bench.nowMs += 50
  bench.do(bench.machine.giveBack(bench.nowMs, 'a', '3-1'))
  t.same(bench.starts.slice(3), ['b operations/3 3-2'])
  bench.finish('b', '3-2')
  t.match(bench.state('operations/3'), { stage: 'COMPLETED', outcome: { response } }, 'giving back is no failure')
})

t.test('a worker that gives an attempt back despite a free slot is paused', async (t) => {
  const bench = new Bench()
  bench.worker('liar', [], 2, 2)
  bench.enqueue()
  bench.do(bench.machine.giveBack(bench.nowMs, 'liar', '1-1'))
  t.same(bench.starts, ['liar operations/1 1-1'], 'no loop of starts')
  bench.pass(1_000, ['liar'])
  t.same(bench.starts.slice(1), ['liar operations/1 1-2'])
})

t.test('allocation_strategy', async (t) => {
  const order = (allocationStrategy: SimpleSettings['allocationStrategy']) => {
    const bench = new Bench({ allocationStrategy })
    for (const id of ['a', 'b', 'c']) bench.worker(id)
    const used: (string | undefined)[] = []
    for (let run = 1; run <= 4; run++) {
      bench.enqueue()
      const worker = bench.of('start').at(-1)?.workerId ?? ''
      used.push(worker)
      bench.finish(worker, `${run}-1`)
    }
    return used.join('')
  }
  t.equal(order('least_recently_used'), 'abca')
  t.equal(order('most_recently_used'), 'aaaa')
})

t.test('priority, then order of arrival; joining raises', async (t) => {
  const bench = new Bench()
  for (const [index, priority] of [1, 0, 1, -1, 5].entries()) bench.enqueue([], { priority, action: `${index}` })
  bench.enqueue([], { priority: -2, action: '4' })
  bench.enqueue([], { priority: 9, action: '3' })
  bench.worker('w', [], 1)
  for (let run = 0; run < 5; run++) bench.finish('w', bench.of('start').at(-1)?.start.attemptId ?? '')
  t.same(
    bench.starts.map((start) => start.split(' ')[1]),
    ['operations/5', 'operations/4', 'operations/2', 'operations/1', 'operations/3'],
  )
})

t.test('sharing: equal actions of one instance share a run, unless do_not_cache is set', async (t) => {
  const bench = new Bench()
  bench.enqueue([], { action: 'x' })
  bench.enqueue([], { action: 'x' })
  bench.enqueue([], { action: 'x', doNotCache: true })
  bench.enqueue([], { action: 'x', doNotCache: true })
  bench.worker('w')
  t.same(bench.starts, ['w operations/1 1-1', 'w operations/3 3-1', 'w operations/4 4-1'])
  bench.enqueue([], { action: 'x' })
  t.equal(bench.state('operations/5')?.stage, 'EXECUTING', 'joined while it runs')
  bench.finish('w', '1-1')
  for (const name of ['1', '2', '5']) t.equal(bench.state(`operations/${name}`)?.stage, 'COMPLETED')
  t.equal(bench.state('operations/3')?.stage, 'EXECUTING')
  bench.enqueue([], { action: 'x' })
  t.equal(bench.starts.at(-1), 'w operations/6 6-1', 'an ended run is not shared')
})

t.test('skip_cache_lookup joins a run in progress, but not one that has a result', async (t) => {
  const bench = new Bench()
  bench.worker('w')
  const first = bench.enqueue([], { action: 'x' })
  const joining = bench.enqueue([], { action: 'x', skipCacheLookup: true })
  t.equal(bench.starts.length, 1)
  const [settle] = bench
    .do(bench.machine.report(bench.nowMs, 'w', '1-1', response))
    .filter(({ kind }) => kind === 'settle')
  const late = bench.enqueue([], { action: 'x' })
  t.equal(bench.starts.length, 1, 'without skip_cache_lookup it joins the settling run')
  const anew = bench.enqueue([], { action: 'x', skipCacheLookup: true })
  t.same(bench.starts.slice(1), [`w ${anew} 4-1`])
  if (settle?.kind === 'settle') bench.do(bench.machine.settled(bench.nowMs, settle.executionId, { response }))
  for (const name of [first, joining, late]) t.equal(bench.state(name)?.stage, 'COMPLETED')
  t.equal(bench.state(anew)?.stage, 'EXECUTING')
})

t.test('worker_timeout_s: a silent worker is lost, one with keep-alives is not', async (t) => {
  const bench = new Bench({ workerTimeoutMs: 3_000 })
  bench.worker('w')
  const name = bench.enqueue()
  bench.pass(10_000, ['w'])
  t.equal(bench.of('evict').length, 0)
  bench.pass(2_900)
  t.equal(bench.of('evict').length, 0)
  bench.pass(100)
  t.match(bench.of('evict')[0], { workerId: 'w', error: { message: /not heard of for 3 s/ } })
  t.equal(bench.state(name)?.stage, 'QUEUED', 'and its action is queued again')
  bench.finish('w', '1-1')
  t.equal(bench.state(name)?.stage, 'QUEUED', 'a late result of a lost attempt is ignored')
  t.equal(bench.of('acknowledge').length, 0)
})

t.test('a disconnected worker may return in time; without attempts it is removed at once', async (t) => {
  const bench = new Bench({ workerTimeoutMs: 3_000, maxJobRetries: 0 })
  bench.worker('idle')
  bench.do(bench.machine.workerDisconnected(0, 'idle'))
  bench.enqueue()
  t.equal(bench.of('log').length, 1, 'no worker is left')
  bench.worker('w')
  bench.do(bench.machine.workerDisconnected(0, 'w'))
  bench.enqueue()
  t.equal(bench.starts.length, 1, 'nothing starts on it meanwhile')
  bench.pass(2_900)
  const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 2 }
  bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, { attemptIds: ['1-1'] }))
  t.equal(bench.starts.length, 2)
  bench.finish('w', '1-1')
  t.equal(bench.failure('operations/1'), undefined)
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
  bench.pass(3_000)
  t.match(bench.failure('operations/2'), { code: Code.UNAVAILABLE, message: /1 of 1 tries failed.*not heard of/ })
})

t.test('max_job_retries: one more failure returns the last error', async (t) => {
  for (const maxJobRetries of [0, 1, 3]) {
    const bench = new Bench({ maxJobRetries })
    bench.worker('w')
    const name = bench.enqueue()
    for (let attempt = 1; attempt <= maxJobRetries; attempt++) bench.fail('w', `1-${attempt}`)
    t.equal(bench.state(name)?.stage, 'EXECUTING', `${maxJobRetries}: tried again as often as allowed`)
    bench.fail('w', `1-${maxJobRetries + 1}`)
    const tries = maxJobRetries + 1
    const message = `${tries} of ${tries} tries failed, the last one: worker w: disk on fire`
    t.match(bench.failure(name), { code: Code.INTERNAL, message })
    t.equal(bench.starts.length, maxJobRetries + 1)
  }
  const bench = new Bench({ allocationStrategy: 'most_recently_used' })
  bench.worker('a')
  bench.worker('b')
  bench.enqueue()
  bench.fail('a', '1-1')
  t.equal(bench.starts.at(-1), 'b operations/1 1-2', 'another worker is tried first')
})

t.test('a worker at which several actions in a row fail is set aside, and tried again with one', async (t) => {
  const bench = new Bench({ maxJobRetries: 0, workerFailuresInARow: 3, workerBackoffMs: 10_000 })
  bench.worker('w', [], 2)
  const shown = () => overview(bench.machine, []).workers[0]
  for (const number of [1, 2, 3]) {
    t.equal(shown()?.state, 'connected')
    bench.enqueue([], { action: `a${number}` })
    bench.fail('w', `${number}-1`)
  }
  t.match(shown(), { state: 'set aside', trouble: /^set aside after 3 failures in a row .*disk on fire/ })
  t.match([...bench.machine.activity(bench.nowMs).workers], [{ state: 'set_aside' }], 'for metrics and alerts')
  t.match(
    bench.of('log').map(({ level, message }) => [level, message]),
    [['warn', /^worker w is set aside after 3 failures in a row.*it is tried again with one action in 10 s/]],
  )
  bench.enqueue([], { action: 'a4' })
  bench.enqueue([], { action: 'a5' })
  t.equal(bench.starts.length, 3, 'it gets no action')
  bench.pass(9_000, ['w'])
  t.equal(bench.starts.length, 3)
  bench.pass(1_500, ['w'])
  t.equal(bench.starts.length, 4, 'then one')
  bench.fail('w', '4-1')
  bench.pass(19_000, ['w'])
  t.equal(bench.starts.length, 4, 'and after another failure none for twice as long')
  bench.pass(1_500, ['w'])
  t.equal(bench.starts.length, 5)
  bench.enqueue([], { action: 'a6' })
  bench.enqueue([], { action: 'a7' })
  bench.finish('w', '5-1', { ...response, result: resultOf(1) })
  t.equal(bench.starts.length, 7, 'one that ran there is enough')
  t.match(shown(), { state: 'connected', trouble: undefined })
  t.equal(bench.of('log').filter(({ message }) => /^worker w is set aside/.test(message)).length, 2)
  t.equal(
    bench
      .of('log')
      .filter(({ level, message }) => level === 'warn' && /set aside/.test(message) && /^worker/.test(message)).length,
    1,
    'one warning',
  )
})

t.test('an action that failed on a worker waits for another one, and does not use up its tries there', async (t) => {
  const bench = new Bench({ maxJobRetries: 1, workerFailuresInARow: 3, workerBackoffMs: 10_000 })
  bench.worker('good', [], 1)
  const long = bench.enqueue([], { action: 'long' })
  bench.worker('bad', [], 1)
  const name = bench.enqueue([], { action: 'short' })
  const other = bench.enqueue([], { action: 'other' })
  t.match(bench.starts, [/^good /, /^bad /])
  bench.fail('bad', '2-1')
  bench.pass(5_000, ['good', 'bad'])
  t.equal(bench.starts.length, 2, 'the bad worker takes nothing meanwhile')
  t.equal(bench.state(name)?.stage, 'QUEUED')
  bench.finish('good', '1-1')
  t.equal(bench.starts.at(-1), `good ${name} 2-2`)
  bench.pass(100, ['good', 'bad'])
  t.equal(bench.starts.at(-1), `bad ${other} 3-1`, 'it goes on when the action runs elsewhere')
  t.ok(bench.state(long)?.outcome)
})

t.test(
  'an action that failed on a worker runs there again if all others stay busy, or there is no other',
  async (t) => {
    const bench = new Bench({ maxJobRetries: 9, workerFailuresInARow: 3, workerBackoffMs: 10_000 })
    bench.worker('good', [], 1)
    bench.enqueue([], { action: 'long' })
    bench.worker('bad', [], 1)
    bench.enqueue([], { action: 'short' })
    bench.fail('bad', '2-1')
    bench.pass(9_000, ['good', 'bad'])
    t.equal(bench.starts.length, 2)
    bench.pass(1_500, ['good', 'bad'])
    t.match(bench.starts.at(-1), /^bad .* 2-2/)
    bench.do(bench.machine.workerDisconnected(bench.nowMs, 'good'))
    bench.fail('bad', '2-2')
    t.match(bench.starts.at(-1), /^bad .* 2-3/, 'at once')
  },
)

t.test('an action that fails everywhere sets no worker aside', async (t) => {
  const bench = new Bench({ maxJobRetries: 9, workerFailuresInARow: 3 })
  bench.worker('w', [], 2)
  bench.enqueue()
  for (let attempt = 1; attempt <= 9; attempt++) bench.fail('w', `1-${attempt}`)
  t.match(overview(bench.machine, []).workers, [{ state: 'connected' }])
})

t.test('a sick worker gets no actions, the page says why, and it gets them when it is well', async (t) => {
  const bench = new Bench()
  bench.worker('w')
  bench.do(bench.machine.health(bench.nowMs, 'w', 'store of inputs: no rights'))
  const name = bench.enqueue()
  t.equal(bench.starts.length, 0)
  t.match(overview(bench.machine, []).workers, [{ state: 'sick', trouble: 'sick: store of inputs: no rights' }])
  t.match(
    bench.machine.explained(name)?.progress?.waitsFor,
    /^no worker can run it: .*; every worker that could run it is sick or set aside: w is sick: store of inputs: no rights/,
  )
  bench.do(bench.machine.health(bench.nowMs, 'w', ''))
  t.equal(bench.starts.length, 1)
})

t.test(
  'an action that only sick workers could run counts as one without a worker, also if they connect again and again',
  async (t) => {
    const bench = new Bench({ noWorkerTimeoutMs: 60_000 })
    const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 1, sick: 'store of inputs: no rights' }
    const connect = () => bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, { attemptIds: [] }))
    connect()
    const name = bench.enqueue()
    t.equal(bench.machine.workers.unmatched, 1)
    for (let second = 0; second < 50; second += 10) {
      bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
      connect()
      bench.pass(10_000, ['w'])
    }
    t.equal(bench.state(name)?.stage, 'QUEUED')
    bench.pass(10_000, ['w'])
    const message = /no worker for this action within 60 s .*w is sick: store of inputs: no rights/
    t.match(bench.failure(name), { code: Code.UNAVAILABLE, message })
  },
)

t.test('a running attempt of a worker that is sick goes on after a reconnect', async (t) => {
  const bench = new Bench()
  bench.worker('w')
  const name = bench.enqueue()
  bench.do(bench.machine.health(bench.nowMs, 'w', 'no rights'))
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
  const offer = { name: 'w', properties: new Map(), maxInflightAttempts: 1, sick: 'no rights' }
  bench.do(bench.machine.workerConnected(bench.nowMs, 'w', offer, { attemptIds: ['1-1'] }))
  bench.finish('w', '1-1')
  t.equal(bench.failure(name), undefined)
})

t.test('a worker that was set aside stays so when it connects again, under its id or its name', async (t) => {
  const bench = new Bench({ maxJobRetries: 0, workerFailuresInARow: 3, workerBackoffMs: 10_000 })
  const connect = (id: string, sharedName = 'w') => {
    const offer = { name: sharedName, properties: new Map(), maxInflightAttempts: 2 }
    bench.do(bench.machine.workerConnected(bench.nowMs, id, offer, { attemptIds: [] }))
  }
  const stateOf = (id: string) => overview(bench.machine, []).workers.find((one) => one.id === id)?.state
  connect('w-1')
  for (const number of [1, 2, 3]) {
    bench.enqueue([], { action: `a${number}` })
    bench.fail('w-1', `${number}-1`)
  }
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w-1'))
  connect('w-1')
  t.equal(stateOf('w-1'), 'set aside', 'the same process')
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w-1'))
  connect('w-2')
  t.equal(stateOf('w-2'), 'set aside', 'a new process of that name')
  connect('w-3')
  t.equal(stateOf('w-3'), 'connected', 'another worker of that name')
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w-3'))
  bench.enqueue([], { action: 'a4' })
  bench.enqueue([], { action: 'a5' })
  t.equal(bench.starts.length, 3)
  bench.pass(10_500, ['w-2'])
  t.match(bench.starts.slice(3), [/^w-2 /], 'it is tried with one action when its time is over')
  bench.finish('w-2', '4-1', { ...response, result: resultOf(1) })
  t.equal(stateOf('w-2'), 'connected')
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w-2'))
  connect('w-4')
  t.equal(stateOf('w-4'), 'connected', 'nothing is held against one that proved itself')
})

t.test('what is held against workers that left is forgotten after an hour', async (t) => {
  const bench = new Bench({ maxJobRetries: 0, workerFailuresInARow: 1, workerBackoffMs: 10_000 })
  bench.worker('w')
  bench.enqueue()
  bench.fail('w', '1-1')
  bench.do(bench.machine.workerDisconnected(bench.nowMs, 'w'))
  bench.pass(3_700_000)
  bench.worker('w')
  t.match(overview(bench.machine, []).workers, [{ state: 'connected' }])
})

t.test('a failure of a worker without a right is not told to clients as one of theirs', async (t) => {
  const bench = new Bench({ maxJobRetries: 0 })
  for (const code of ['PERMISSION_DENIED', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'UNAUTHENTICATED'] as const) {
    const workerId = `without-${code}`
    bench.worker(workerId)
    const name = bench.enqueue([], { action: code })
    const [, attemptId = ''] = /(\S+)$/.exec(bench.starts.at(-1) ?? '') ?? []
    bench.do(bench.machine.workerError(bench.nowMs, workerId, attemptId, new StatusError(code, 'no read_cas')))
    const message = new RegExp(`worker ${workerId}: ${code}: no read_cas`)
    t.match(bench.failure(name), { code: Code.INTERNAL, message })
    t.match(bench.of('ended').at(-1)?.ended, { workerId })
    bench.do(bench.machine.workerDisconnected(bench.nowMs, workerId))
  }
})

t.test('max_action_executing_timeout_s: a stuck attempt is killed and retried', async (t) => {
  const bench = new Bench({ maxActionExecutingTimeoutMs: 2_000, maxJobRetries: 1 })
  bench.worker('w', [], 1)
  const name = bench.enqueue()
  bench.pass(1_900, ['w'])
  bench.do(bench.machine.progress(bench.nowMs, 'w', '1-1', 2))
  bench.pass(1_900, ['w'])
  t.equal(bench.of('kill').length, 0, 'a new stage restarts the timeout')
  bench.do(bench.machine.progress(bench.nowMs, 'w', '1-1', 2))
  bench.pass(100, ['w'])
  t.same(bench.of('kill'), [{ kind: 'kill', workerId: 'w', attemptId: '1-1' }], 'the same stage again does not')
  t.equal(bench.state(name)?.stage, 'QUEUED', 'its slot is taken until the kill is confirmed')
  bench.fail('w', '1-1')
  t.equal(bench.starts.at(-1), 'w operations/1 1-2')
  bench.pass(2_000, ['w'])
  t.match(bench.failure(name), {
    code: Code.DEADLINE_EXCEEDED,
    message: /2 of 2 tries failed.*no progress on worker w within 2 s/,
  })
  const free = new Bench()
  free.worker('w')
  free.enqueue()
  free.pass(100_000, ['w'])
  t.equal(free.of('kill').length, 0, 'off unless set')
})

t.test('unacknowledged_kill_timeout_s: a worker that does not confirm a kill is removed', async (t) => {
  const bench = new Bench({ unacknowledgedKillTimeoutMs: 4_000 })
  bench.worker('w')
  const name = bench.enqueue()
  bench.do(bench.machine.cancel(0, name))
  t.equal(bench.failure(name)?.code, Code.CANCELLED)
  bench.pass(3_900, ['w'])
  t.equal(bench.of('evict').length, 0)
  bench.pass(100, ['w'])
  t.match(bench.of('evict')[0]?.error.message, /worker w did not confirm a kill within 4 s/)
})

t.test('client_action_timeout_s: an operation without a waiting client is cancelled', async (t) => {
  const bench = new Bench({ clientActionTimeoutMs: 2_000 })
  bench.worker('w')
  const name = bench.enqueue()
  bench.pass(5_000, ['w'])
  bench.do(bench.machine.clientDetached(bench.nowMs, name))
  bench.pass(1_900, ['w'])
  bench.do(bench.machine.touched(bench.nowMs, name))
  bench.pass(1_900, ['w'])
  t.equal(bench.state(name)?.stage, 'EXECUTING', 'GetOperation restarts the timeout')
  bench.pass(100, ['w'])
  t.match(bench.failure(name), { code: Code.DEADLINE_EXCEEDED, message: /no client listened to operations\/1 for 2 s/ })
  t.equal(bench.of('kill').length, 1)

  const left = bench.enqueue()
  bench.pass(5_000, ['w'])
  bench.do(bench.machine.clientDetached(bench.nowMs, left))
  bench.pass(2_000, ['w'])
  t.equal(bench.failure(left)?.code, Code.DEADLINE_EXCEEDED, 'no client ever waited')
})

t.test('retain_completed_for_s, within the memory of the ledger', async (t) => {
  const ledger = new Ledger({ outcomes: 2 * 10_000 })
  const bench = new Bench({ retainCompletedForMs: 2_000 }, ledger)
  bench.worker('w')
  const names = [bench.enqueue(), bench.enqueue(), bench.enqueue()]
  for (const [index] of names.entries()) bench.finish('w', `${index + 1}-1`)
  t.same(
    names.map((name) => bench.state(name)?.stage),
    [undefined, 'COMPLETED', 'COMPLETED'],
  )
  bench.pass(1_900, ['w'])
  t.equal([...bench.machine.operations('')].length, 2)
  bench.pass(100, ['w'])
  t.equal([...bench.machine.operations('')].length, 0)
  t.equal(ledger.kinds.outcomes.heldBytes, 0)
})

t.test('outcomes are kept by their bytes: one large one takes the room of many small ones', async (t) => {
  const ledger = new Ledger({ outcomes: 200_000 })
  const bench = new Bench({ retainCompletedForMs: 60_000, noWorkerTimeoutMs: 10 }, ledger)
  bench.worker('w')
  const small = [bench.enqueue(), bench.enqueue(), bench.enqueue()]
  for (const [index] of small.entries()) bench.finish('w', `${index + 1}-1`)
  const other = bench.enqueue([], { instance: 'other' })
  bench.finish('w', '4-1')
  const large = bench.enqueue()
  bench.finish('w', '5-1', { ...response, result: resultOf(88_000) })
  t.same(
    [...small, other, large].map((name) => bench.state(name)?.stage),
    [undefined, undefined, 'COMPLETED', 'COMPLETED', 'COMPLETED'],
  )
  const endless = bench.enqueue()
  bench.finish('w', '6-1', { ...response, result: resultOf(100_000) })
  t.equal(bench.state(endless), undefined, 'more than an instance may have is given to those who wait, and not kept')
  t.equal(bench.state(large)?.stage, 'COMPLETED')
})

t.test('a retry that starts at once has not waited: the time of the lost attempt is no waiting time', async (t) => {
  const bench = new Bench({ maxJobRetries: 3 })
  bench.worker('a', [['os', 'linux']], 1)
  bench.worker('b', [['os', 'linux']], 1)
  bench.enqueue([['os', 'linux']])
  bench.pass(20_000, ['a', 'b'])
  const [first] = bench.of('start')
  bench.fail(first?.workerId ?? '', first?.start.attemptId ?? '')
  t.same(
    bench.of('start').map(({ start }) => start.waitingSinceMs),
    [0, 20_000],
  )
})

t.test('actions that come and go without a worker are one line in five minutes', async (t) => {
  const bench = new Bench({ noWorkerTimeoutMs: 1000, workerMatchLoggingIntervalMs: 300_000 })
  for (let count = 0; count < 100; count++) {
    bench.enqueue([['os', 'linux']])
    bench.pass(5000)
  }
  bench.enqueue([['os', 'mac']])
  const lines = bench.of('log').map(({ message }) => message)
  const waits = (os: string): string =>
    `No workers available: 1 action waits, asked for os=${os}; no worker is connected`
  t.same(lines, [waits('linux'), waits('linux'), waits('mac')])
})

t.test('no_worker_timeout_s and worker_match_logging_interval_s', async (t) => {
  const bench = new Bench({ noWorkerTimeoutMs: 25_000, workerMatchLoggingIntervalMs: 10_000 })
  const early = bench.enqueue([['os', 'linux']])
  bench.pass(10_000)
  const late = bench.enqueue([['os', 'linux']])
  bench.pass(14_900)
  t.same(
    bench.of('log').map(({ message }) => message),
    [
      'No workers available: 1 action waits, asked for os=linux; no worker is connected',
      'No workers available for 10 s: 1 action waits, asked for os=linux; no worker is connected',
      'No workers available for 20 s: 2 actions wait, asked for os=linux; no worker is connected',
    ],
  )
  bench.worker('mac', [['os', 'mac']])
  bench.pass(100, ['mac'])
  const explained = /within 25 s.*asked for os=linux; of 1 connected worker os=linux is offered by none \(os: mac\)/
  t.match(bench.failure(early), { code: Code.FAILED_PRECONDITION, message: explained })
  t.equal(bench.state(late)?.stage, 'QUEUED')
  bench.worker('linux', [['os', 'linux']], 1)
  t.equal(bench.state(late)?.stage, 'EXECUTING')
  const busy = bench.enqueue([['os', 'linux']])
  bench.pass(100_000, ['mac', 'linux'])
  t.equal(bench.state(busy)?.stage, 'QUEUED', 'a busy worker is waited for')
  bench.do(bench.machine.goingAway(bench.nowMs, 'linux'))
  bench.pass(24_900, ['mac', 'linux'])
  t.equal(bench.state(busy)?.stage, 'QUEUED')
  bench.pass(100, ['mac', 'linux'])
  t.equal(bench.failure(busy)?.code, Code.FAILED_PRECONDITION, 'the timeout starts when the last capable worker leaves')

  const patient = new Bench({ noWorkerTimeoutMs: undefined, workerMatchLoggingIntervalMs: undefined })
  const waiting = patient.enqueue()
  patient.pass(1_000_000)
  t.equal(patient.state(waiting)?.stage, 'QUEUED')
  t.equal(patient.of('log').length, 1)
})

t.test('fallback_match_interval_s: finds an execution that an event left waiting by mistake', async (t) => {
  for (const [fallbackMatchIntervalMs, stage] of [
    [5_000, 'EXECUTING'],
    [undefined, 'QUEUED'],
  ] as const) {
    const bench = new Bench({ fallbackMatchIntervalMs })
    bench.worker('w', [], 1)
    bench.pass(5_000, ['w'])
    const [worker] = bench.machine.inspect().workers.all
    if (worker === undefined) throw new Error('no worker')
    // Simulates a missed update of the index.
    worker.isPaused = true
    const waiting = bench.enqueue()
    worker.isPaused = false
    bench.pass(4_900, ['w'])
    t.equal(bench.state(waiting)?.stage, 'QUEUED')
    bench.pass(100, ['w'])
    t.equal(bench.state(waiting)?.stage, stage)
  }
})

t.test('demand for more than a number holds is told as the most, and not as less than nothing', async (t) => {
  const bench = new Bench()
  for (let at = 0; at < 1100; at++) bench.enqueue([['cpu', String(Number.MAX_SAFE_INTEGER)]])
  const [platform] = bench.machine.activity(bench.nowMs).demand
  t.match(platform, { queued: 1100, running: 0 })
  t.same(platform?.amounts.get('cpu'), { queued: Number.MAX_SAFE_INTEGER, running: 0 })
})

t.test('a worker that is stopped costs its actions no try, unless that happens again and again', async (t) => {
  const bench = new Bench({ maxJobRetries: 0 })
  const stop = (id: string, how: 'gives back' | 'is gone'): void => {
    bench.do(bench.machine.goingAway(bench.nowMs, id))
    const attempt = bench.of('start').at(-1)?.start.attemptId ?? ''
    if (how === 'gives back') bench.do(bench.machine.giveBack(bench.nowMs, id, attempt, true))
    bench.do(bench.machine.workerDisconnected(bench.nowMs, id))
    bench.pass(10_000)
  }
  bench.worker('w1')
  const name = bench.enqueue()
  stop('w1', 'gives back')
  t.equal(bench.state(name)?.stage, 'QUEUED')
  bench.worker('w2')
  stop('w2', 'is gone')
  t.equal(bench.state(name)?.stage, 'QUEUED', 'killed before its time was over')
  for (let each = 3; each <= 10; each++) {
    bench.worker(`w${each}`)
    stop(`w${each}`, each % 2 === 0 ? 'is gone' : 'gives back')
  }
  t.equal(bench.state(name)?.stage, 'QUEUED', 'ten times')
  bench.worker('last')
  stop('last', 'gives back')
  t.match(bench.failure(name), { code: Code.UNAVAILABLE, message: /worker last was stopped while it ran this/ })
})

t.test('rejections are not counted as failures, but are limited in time', async (t) => {
  const bench = new Bench({ noWorkerTimeoutMs: 5_000, maxJobRetries: 0 })
  const full = new StatusError('RESOURCE_EXHAUSTED', 'full')
  const refuse = (worker: string, attempt: string) => bench.do(bench.machine.refuse(bench.nowMs, worker, attempt, full))
  bench.worker('a')
  bench.worker('b')
  const name = bench.enqueue()
  refuse('a', '1-1')
  t.equal(bench.starts.at(-1), 'b operations/1 1-2', 'another worker gets it at once')
  refuse('b', '1-2')
  t.equal(bench.state(name)?.stage, 'QUEUED', 'both workers are paused')
  for (let attempt = 3; bench.state(name)?.stage !== 'COMPLETED' && attempt < 100; attempt++) {
    bench.pass(1_000, ['a', 'b'])
    refuse(bench.of('start').at(-1)?.workerId ?? '', `1-${attempt}`)
  }
  t.match(bench.failure(name), { code: Code.RESOURCE_EXHAUSTED, message: /refused this action for 5 s.*full/ })
  t.ok(bench.starts.length <= 14, `${bench.starts.length} attempts`)
})

t.test("only an attempt's own worker reports its result; a result is settled before clients see it", async (t) => {
  const bench = new Bench()
  bench.worker('a')
  bench.worker('b')
  const name = bench.enqueue()
  bench.finish('b', '1-1')
  t.equal(bench.state(name)?.stage, 'EXECUTING')
  bench.do(bench.machine.settled(0, name, { response }))
  t.equal(bench.state(name)?.stage, 'EXECUTING', 'nothing is pending to settle')
  bench.do(bench.machine.report(0, 'a', '1-1', response))
  t.equal(bench.state(name)?.stage, 'EXECUTING')
  bench.do(bench.machine.settled(0, name, { response }))
  t.equal(bench.state(name)?.stage, 'COMPLETED')
})
