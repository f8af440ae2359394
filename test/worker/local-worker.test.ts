import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ManualClock, systemClock } from '../../src/base/clock.js'
import type { HealthStatus } from '../../src/base/health.js'
import { StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { Store } from '../../src/blobs/store.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { type LogFields, silentLog } from '../../src/log/log.js'
import { codec } from '../../src/proto/codec.js'
import { Attempts } from '../../src/worker/attempts.js'
import { startLocalWorker } from '../../src/worker/local-worker.js'
import { smallDisk } from '../store/small-disk.js'
import { until } from '../until.js'
import { call, launcher, setUp, sh, workerOptions } from './local-worker-set-up.js'

const startCodec = codec('remexec.worker.v1.Start')

t.test('a worker reports its properties and runs the attempts it gets', async (t) => {
  const platform_properties = new Map<string, { values: string[] } | { query_cmd: string }>([
    ['OSFamily', { values: ['Linux', 'linux'] }],
    ['cpu_count', { query_cmd: '/bin/sh -c \'echo 2; echo " $FIXED "; echo; echo $HOME\'' }],
  ])
  const additional_environment = new Map([['FIXED', { value: 'three' }]])
  const parts = { platform_properties, additional_environment, max_inflight_tasks: 7 }
  const { scheduler, start, read, worker, put } = await setUp(t, parts, { ownLauncher: true })
  const hello = await scheduler.next('hello')
  t.match(hello, { protocolVersion: 1, name: 'w', maxInflightAttempts: 7, workerId: '', attemptIds: [] })
  t.same(
    hello.properties.map(({ name, values }) => [name, values]),
    [
      ['OSFamily', ['Linux', 'linux']],
      ['cpu_count', ['2', 'three']],
    ],
  )
  const input = (await put(Buffer.from('in'))).toMessage()
  const attemptId = await start(
    { ...sh('cat f > out; cat f'), outputPaths: ['out'] },
    { files: [{ name: 'f', digest: input }] },
  )
  const result = await scheduler.next('result')
  t.match(result, { attemptId, executeResponse: { result: { exitCode: 0, executionMetadata: { worker: 'w' } } } })
  t.equal(await read(result.executeResponse?.result?.outputFiles[0]?.digest), 'in')
  t.match(worker.health(), { state: 'Ok', message: /as id-1/ })
  await scheduler.next('keepAlive')
  await scheduler.next('keepAlive')
})

t.test('attempts survive a lost connection, and results are sent again until acknowledged', async (t) => {
  const { scheduler, start, directory } = await setUp(t)
  await scheduler.next('hello')
  scheduler.acknowledges = false
  const flag = join(directory, 'go')
  const attemptId = await start(sh(`echo x >> ${directory}/runs; while ! test -e ${flag}; do sleep 0.05; done; exit 4`))
  await scheduler.next('progress')
  scheduler.drop()
  t.match(await scheduler.next('hello'), { workerId: 'id-1', attemptIds: [attemptId] })
  t.match(await scheduler.next('progress'), { attemptId, stage: 2 }, 'its stage is reported again')
  writeFileSync(flag, '')
  t.match(await scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 4 } } })
  scheduler.drop()
  t.match(await scheduler.next('hello'), { attemptIds: [attemptId] })
  t.match(await scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 4 } } })
  scheduler.say({ resultAck: { attemptIds: ['unknown', attemptId] } })
  await start(sh('exit 0'))
  await scheduler.next('result')
  scheduler.acknowledges = true
  scheduler.drop()
  t.same((await scheduler.next('hello')).attemptIds, ['attempt-2'], 'an acknowledged result is dropped')
})

t.test('a repeated start runs once', async (t) => {
  const { scheduler, start, directory } = await setUp(t)
  await scheduler.next('hello')
  scheduler.acknowledges = false
  const attemptId = await start(sh(`echo x >> ${directory}/runs`))
  t.match(await scheduler.next('result'), { attemptId })
  scheduler.say({ start: { attemptId } })
  t.match(await scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 0 } } })
  t.equal(readFileSync(`${directory}/runs`, 'utf8'), 'x\n')
  scheduler.say({ resultAck: { attemptIds: [attemptId] } })
})

t.test('a kill ends the attempt', async (t) => {
  const { scheduler, start } = await setUp(t)
  await scheduler.next('hello')
  const attemptId = await start(sh('sleep 1000'))
  await scheduler.next('progress')
  scheduler.say({ kill: { attemptId } })
  t.match(await scheduler.next('result'), { attemptId, workerError: { code: 10 } })
})

t.test('a kill ends the hashing of an output of 1 TB that is sparse', async (t) => {
  const { scheduler, start, directory } = await setUp(t)
  await scheduler.next('hello')
  const ended = join(directory, 'ended')
  const attemptId = await start({ ...sh(`truncate -s 1T out; echo $$ > ${ended}`), outputPaths: ['out'] })
  await until(
    () => existsSync(ended) && !existsSync(`/proc/${Number(readFileSync(ended, 'utf8')) || process.pid}`),
    'the end of the command',
  )
  scheduler.say({ kill: { attemptId } })
  t.match(await scheduler.next('result'), { attemptId, workerError: { code: 10 } })
})

t.test('an invalid start is reported as an error of the worker', async (t) => {
  const { scheduler } = await setUp(t)
  await scheduler.next('hello')
  scheduler.say({ start: { attemptId: 'a', actionDigest: { hash: 'zz', sizeBytes: 1 } } })
  t.match(await scheduler.next('result'), { attemptId: 'a', workerError: { code: 3 } })
})

t.test('attempts beyond the limit or after a drain are refused', async (t) => {
  const { scheduler, start, prepare } = await setUp(t, { max_inflight_tasks: 1 })
  const { maxWaitingAttempts } = await scheduler.next('hello')
  const first = await start(sh('sleep 1000'))
  await scheduler.next('progress')
  const startAnother = await prepare(sh('true'))
  // All in one turn, because an attempt that waits for long is given back, and leaves its place to the next.
  const waiting = Array.from({ length: maxWaitingAttempts }, startAnother)
  const last = startAnother()
  t.match(await scheduler.next('result'), { attemptId: last, refused: { code: 8, message: /its limit is 1/ } })
  for (const attemptId of waiting) t.match(await scheduler.next('result'), { attemptId, givenBack: {} })
  scheduler.say({ kill: { attemptId: first } })
  await scheduler.next('result')
  scheduler.say({ drain: {} })
  const third = await start(sh('true'))
  t.match(await scheduler.next('result'), { attemptId: third, refused: { code: 14 } })
})

t.test('a drained worker accepts attempts again after the next welcome', async (t) => {
  const { scheduler, start } = await setUp(t)
  await scheduler.next('hello')
  scheduler.say({ drain: {} })
  scheduler.drop()
  await scheduler.next('hello')
  const attemptId = await start(sh('true'))
  t.match(await scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 0 } } })
})

t.test('a closing worker refuses attempts also after another welcome', async (t) => {
  const { scheduler, start, worker, directory } = await setUp(t)
  await scheduler.next('hello')
  const flag = join(directory, 'go')
  const running = await start(sh(`while ! test -e ${flag}; do sleep 0.05; done`))
  await scheduler.next('progress')
  const closed = worker.close(10_000)
  await scheduler.next('goingAway')
  scheduler.drop()
  await scheduler.next('goingAway')
  const late = await start(sh('true'))
  t.match(await scheduler.next('result'), { attemptId: late, refused: { code: 14 } })
  writeFileSync(flag, '')
  t.match(await scheduler.next('result'), { attemptId: running, executeResponse: { result: { exitCode: 0 } } })
  await closed
})

t.test('a worker that stops gives back what does not end in time, and keeps what does', async (t) => {
  const { scheduler, start, worker } = await setUp(t)
  await scheduler.next('hello')
  const endless = await start(sh('while :; do sleep 0.05; done'))
  await scheduler.next('progress')
  const closed = worker.close(400)
  await scheduler.next('goingAway')
  t.match(await scheduler.next('result'), { attemptId: endless, givenBack: { stops: true } })
  await closed
})

t.test('an attempt that uploads its outputs frees its slot', async (t) => {
  const said: string[] = []
  const attempts = new Attempts({
    ...{ maxInflight: 1, maxWaiting: 0 },
    send: ({ progress, result }) =>
      said.push(progress ? `${progress.attemptId} ${progress.stage}` : `${result?.attemptId}`),
    run: ({ attemptId, onProgress }) => {
      onProgress(attemptId === 'a' ? 3 : 2)
      return new Promise(() => {})
    },
  })
  const actionDigest = { hash: '0'.repeat(64), sizeBytes: 1 }
  for (const attemptId of ['a', 'b', 'c']) {
    attempts.start(startCodec.decode(startCodec.encode({ attemptId, actionDigest, digestFunction: 1 })))
  }
  t.same(said, ['a 3', 'c'], 'only c is refused; b is reported as running if it takes longer')
})

t.test('waiting attempts start in order as slots get free, and can be killed while they wait', async (t) => {
  const said: string[] = []
  const ends = new Map<string, () => void>()
  const attempts = new Attempts({
    ...{ maxInflight: 1, maxWaiting: 3 },
    send: ({ result }) => {
      said.push(`${result?.attemptId} ${result?.givenBack ? 'given back' : 'ended'}`)
    },
    run: ({ attemptId }) =>
      new Promise((resolve) => {
        ends.set(attemptId, () => resolve({ executeResponse: {} }))
      }),
  })
  const actionDigest = { hash: '0'.repeat(64), sizeBytes: 1 }
  for (const attemptId of ['a', 'b', 'c', 'd']) {
    attempts.start(startCodec.decode(startCodec.encode({ attemptId, actionDigest, digestFunction: 1 })))
  }
  t.same([...ends.keys()], ['a'])
  attempts.kill('b')
  ends.get('a')?.()
  await until(() => ends.has('c'))
  t.same([...ends.keys()], ['a', 'c'])
  await until(() => said.length === 3)
  t.same(said, ['b given back', 'a ended', 'd given back'], 'd after some time, because c does not end')
  ends.get('c')?.()
  await until(() => said.length === 4)
  for (const attemptId of ['a', 'b', 'c', 'd']) attempts.acknowledge(attemptId)
  await attempts.idle({ acknowledged: true })
  attempts.start(startCodec.decode(startCodec.encode({ attemptId: 'e', actionDigest, digestFunction: 1 })))
  t.ok(ends.has('e'), 'the place is free again')
})

t.test('a short run sends only its result', async (t) => {
  const said: string[] = []
  let finish: () => void = () => {}
  const over = new Promise<void>((resolve) => {
    finish = resolve
  })
  const attempts = new Attempts({
    ...{ maxInflight: 0, maxWaiting: 0 },
    send: ({ progress, result }) => {
      said.push(progress ? `${progress.attemptId} ${progress.stage}` : `${result?.attemptId}`)
      if (said.length === 2) finish()
    },
    run: async ({ attemptId, onProgress }) => {
      onProgress(2)
      if (attemptId === 'short') return { executeResponse: {} }
      return new Promise(() => {})
    },
  })
  const actionDigest = { hash: '0'.repeat(64), sizeBytes: 1 }
  for (const attemptId of ['short', 'long']) {
    attempts.start(startCodec.decode(startCodec.encode({ attemptId, actionDigest, digestFunction: 1 })))
  }
  await over
  t.same(said, ['short', 'long 2'])
})

t.test('the entrypoint and the precondition script are split into words', async (t) => {
  const { scheduler, start, read } = await setUp(t, { entrypoint: "/usr/bin/env 'A=b c'" })
  await scheduler.next('hello')
  await start(sh('echo $A'))
  t.equal(await read((await scheduler.next('result')).executeResponse?.result?.stdoutDigest), 'b c\n')
  const refusing = await setUp(t, { experimental_precondition_script: "/bin/sh -c 'exit 3'" })
  await refusing.scheduler.next('hello')
  await refusing.start(sh('true'))
  t.match(await refusing.scheduler.next('result'), { refused: { code: 8, message: /exit code 3/ } })
  await t.rejects(setUp(t, { entrypoint: "env 'A" }), { code: 3, message: /^entrypoint "env 'A" cannot be split/ })
})

t.test('closing waits for running attempts, and kills those that take too long', async (t) => {
  const patient = await setUp(t)
  await patient.scheduler.next('hello')
  const flag = join(patient.directory, 'go')
  const attemptId = await patient.start(sh(`while ! test -e ${flag}; do sleep 0.05; done`))
  await patient.scheduler.next('progress')
  const closed = patient.worker.close(10_000)
  await patient.scheduler.next('goingAway')
  writeFileSync(flag, '')
  t.match(await patient.scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 0 } } })
  await closed
  t.same(readdirSync(join(patient.directory, 'work')), [])

  const hasty = await setUp(t)
  await hasty.scheduler.next('hello')
  await hasty.start(sh('sleep 1000'))
  await hasty.scheduler.next('progress')
  const over = hasty.worker.close(50)
  const { givenBack } = await hasty.scheduler.next('result')
  t.equal(givenBack?.stops, true)
  await over
  t.same(readdirSync(join(hasty.directory, 'work')), [])
})

t.test('without a scheduler the worker is initializing, then failed, and keeps trying', async (t) => {
  const clock = new ManualClock(1000)
  const { worker } = await setUp(t, {}, { clock, address: '127.0.0.1:1' })
  t.match(worker.health(), { state: 'Initializing' })
  const failed = () =>
    worker.health().state === 'Failed' && /ECONNREFUSED|No connection/.test(JSON.stringify(worker.health()))
  clock.advance(2001)
  await until(() => failed())
  t.match(worker.health(), { state: 'Failed', error: /UNAVAILABLE/ })
})

t.test('a worker whose store has failed says so, takes no action, and comes back when it works', async (t) => {
  let status: HealthStatus = { state: 'Ok', message: '' }
  class Ailing extends ForwardingStore {
    override async health(): Promise<HealthStatus> {
      return status
    }
  }
  const clock = new ManualClock(1000)
  const through = (store: Store): Store => new Ailing(store)
  const { scheduler, worker, start } = await setUp(t, {}, { clock, through })
  t.match(await scheduler.next('hello'), { sick: '' })
  status = { state: 'Failed', message: 'no answer', error: 'read_cas is missing' }
  clock.advance(5_000)
  const sick = 'store of inputs and outputs: no answer: read_cas is missing'
  t.same(await scheduler.next('health'), { sick })
  t.match(worker.health(), { state: 'Failed', error: sick })
  const attemptId = await start(sh('true'))
  t.match(await scheduler.next('result'), { attemptId, refused: { code: 14, message: `the worker is sick: ${sick}` } })
  scheduler.drop()
  t.match(await scheduler.next('hello'), { sick }, 'also to the next scheduler')
  status = { state: 'Ok', message: '' }
  await until(() => {
    clock.advance(5_000)
    return scheduler.count('health') > 0
  })
  t.same(await scheduler.next('health'), { sick: '' })
})

t.test('a refused worker connects again', async (t) => {
  const { scheduler, worker } = await setUp(t)
  await scheduler.next('hello')
  scheduler.refusal = new StatusError('FAILED_PRECONDITION', 'protocol version 1 is not spoken here')
  scheduler.drop()
  await scheduler.next('hello')
  await scheduler.next('hello')
  t.match(worker.health(), {
    state: 'Failed',
    message: 'the scheduler refuses this worker',
    error: /^FAILED_PRECONDITION: protocol version 1 .* of the same release\)$/,
  })
  scheduler.refusal = undefined
  await scheduler.next('hello')
  await until(() => worker.health().state === 'Ok')
  t.ok(scheduler.connections >= 4)
})

t.test('a worker whose query fails does not start, and the error says what to correct', async (t) => {
  for (const [query_cmd, reason] of [
    ["/bin/sh -c 'echo no such thing >&2; exit 3'", 'ended with exit code 3 and said "no such thing"'],
    ['/no/such/program', 'cannot be run: there is no such file or directory \\(ENOENT\\)'],
    ["echo 'open", 'cannot be run: .*'],
  ] as const) {
    const platform_properties = new Map([['p', { query_cmd }]])
    const message = new RegExp(
      `^query_cmd of platform property "p" failed: ".*" ${reason}; correct platform_properties.p`,
    )
    await t.rejects(setUp(t, { platform_properties }), { code: 9, message }, query_cmd)
  }
})

t.test('a query that fails later is logged once, and the worker does not connect', async (t) => {
  const flag = join(mkdtempSync(join(tmpdir(), 'query-')), 'works')
  writeFileSync(flag, '')
  const platform_properties = new Map([['p', { query_cmd: `/bin/cat ${flag}` }]])
  const said: [string, LogFields | undefined][] = []
  const log = { ...silentLog, error: (message: string, fields?: LogFields) => said.push([message, fields]) }
  const { worker, scheduler } = await setUp(t, { platform_properties }, { log })
  await scheduler.next('hello')
  rmSync(dirname(flag), { recursive: true })
  scheduler.drop()
  await until(() => worker.health().message === 'the properties of this worker are not known')
  t.match(worker.health(), {
    state: 'Failed',
    error: /^FAILED_PRECONDITION: query_cmd of platform property "p" failed/,
  })
  mkdirSync(dirname(flag))
  writeFileSync(flag, 'back')
  t.match(await scheduler.next('hello'), { properties: [{ name: 'p', values: ['back'] }] })
  t.same(
    said.map(([message]) => message),
    ['the properties of this worker are not known'],
  )
  rmSync(dirname(flag), { recursive: true })
})

t.test('CMD-15 a damaged input is fetched again from the slow tier of the real store', async (t) => {
  const { scheduler, start, read, put } = await setUp(t)
  await scheduler.next('hello')
  const input = await put(Buffer.from('precious'))
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  await start(sh('chmod u+w in; echo more >> in; cat in'), root)
  const { executeResponse } = await scheduler.next('result')
  t.equal(executeResponse?.result?.exitCode, 0)
  t.equal(await read(executeResponse?.result?.stdoutDigest), 'preciousmore\n')
  t.equal(await read(input), 'precious')
})

t.test(
  'CMD-15 an input with a changed mtime can be read afterwards, and so can an output that is its copy',
  async (t) => {
    // Without a slow tier that could replace the file.
    const { scheduler, start, read, put } = await setUp(t, {}, { slow: { kind: 'noop', options: {} } })
    await scheduler.next('hello')
    for (const [index, touch] of ['touch in', 'touch -d @1000000000.123456789 in', 'touch tool'].entries()) {
      const digest = (await put(Buffer.from(`precious ${index}`))).toMessage()
      const root = {
        files: [
          { name: 'in', digest },
          { name: 'tool', digest, isExecutable: true },
        ],
      }
      await start({ ...sh(`${touch}; cp in out`), outputPaths: ['in', 'out'] }, root)
      const { executeResponse } = await scheduler.next('result')
      t.equal(executeResponse?.result?.outputFiles.length, 2, touch)
      for (const { digest } of executeResponse?.result?.outputFiles ?? [])
        t.equal(await read(digest), `precious ${index}`)
      await start(sh('cat in tool'), root)
      const { result } = (await scheduler.next('result')).executeResponse ?? {}
      t.equal(await read(result?.stdoutDigest), `precious ${index}`.repeat(2), 'the next action finds its inputs')
    }
  },
)

t.test('EXE-12 with the real store', async (t) => {
  const { scheduler, start, put, store } = await setUp(t)
  await scheduler.next('hello')
  const input = await put(Buffer.from('x'))
  await store.remove(input, 'unwanted', call)
  await start(sh('true'), { files: [{ name: 'in', digest: input.toMessage() }] })
  t.match(await scheduler.next('result'), { executeResponse: { status: { code: 9, message: new RegExp(input.hash) } } })
})

t.test('a worker with an unusable work directory does not start, with the reason', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'place-'))
  t.teardown(() => rmSync(place, { recursive: true }))
  writeFileSync(join(place, 'file'), 'precious')
  await t.rejects(setUp(t, { work_directory: join(place, 'file') }), {
    code: 9,
    message: /work_directory ".*\/file" cannot be used: .* \(EEXIST\); move that file away/,
  })
})

t.test('an action that removes the folder of all actions does not stop the next one', async (t) => {
  const { scheduler, start, worker, directory } = await setUp(t)
  await scheduler.next('hello')
  const victim = await start(sh('exit 0'))
  t.match(await scheduler.next('result'), { attemptId: victim, executeResponse: { result: { exitCode: 0 } } })
  await start({ ...sh(`chmod -R u+w ${directory}/work; rm -rf ${directory}/work`), outputPaths: ['gone'] })
  t.match(await scheduler.next('result'), { executeResponse: { status: { code: 9, message: /removed or replaced/ } } })
  const next = await start({ ...sh('echo made > out; cat out'), outputPaths: ['out'] })
  t.match(await scheduler.next('result'), {
    attemptId: next,
    executeResponse: { result: { exitCode: 0 }, status: null },
  })
  t.match(worker.health(), { state: 'Ok' })

  // Removed immediately: the worker may still be removing its contents.
  renameSync(join(directory, 'work'), join(directory, 'gone'))
  writeFileSync(join(directory, 'work'), 'in the way')
  await start(sh('exit 0'))
  t.match(await scheduler.next('result'), { refused: { code: 14, message: /no directory for an action/ } })
  t.match(worker.health(), { state: 'Failed', error: /work: a file is in its place \(EEXIST\)/ })
  rmSync(join(directory, 'work'))
  await start(sh('exit 0'))
  t.match(await scheduler.next('result'), { executeResponse: { result: { exitCode: 0 } } })
  t.match(worker.health(), { state: 'Ok' })
})

t.test(
  'an action that fills the disk fails, concurrent ones go to other workers, and this worker continues',
  async (t) => {
    const disk = await smallDisk(t, '4m')
    if (disk === undefined) return t.comment('this user cannot mount')
    const { scheduler, start, read, put, directory } = await setUp(t, { work_directory: join(disk, 'work') })
    await scheduler.next('hello')
    const root = { files: [{ name: 'in', digest: (await put(Buffer.alloc(100_000, 'precious'))).toMessage() }] }
    const [full, go] = [join(directory, 'full'), join(directory, 'go')]
    const fill = `(cat /dev/zero > fill; echo x >> fill2) 2>/dev/null; touch ${full}; while ! test -e ${go}; do sleep 0.05; done`
    const filling = await start(sh(`${fill}; exit 5`), root)
    await until(() => existsSync(full))
    const beside = await start(sh('cat in'), root)
    const { attemptId, executeResponse, ...failure } = await scheduler.next('result')
    t.equal(attemptId, beside)
    t.equal(executeResponse, null, 'the failure is not a result of the action')
    t.match(failure.refused ?? failure.workerError, { message: /ENOSPC|no space|no directory for an action/i })
    writeFileSync(go, '')
    t.match(await scheduler.next('result'), {
      attemptId: filling,
      executeResponse: { result: { exitCode: 5 }, status: null },
    })
    const next = await start({ ...sh('cp in out; cat in'), outputPaths: ['out'] }, root)
    const { executeResponse: last, ...rest } = await scheduler.next('result')
    t.match({ ...rest, last }, { attemptId: next, last: { status: null, result: { exitCode: 0 } } })
    t.equal((await read(last?.result?.stdoutDigest)).length, 100_000)
  },
)

t.test('two workers on one work_directory: the second is refused, and attempts of the first continue', async (t) => {
  const first = await setUp(t)
  await first.scheduler.next('hello')
  const attemptId = await first.start(sh('sleep 0.5; echo alive'))
  const other = startLocalWorker({
    name: 'other',
    options: workerOptions(first.directory, {}),
    stores: { cas: first.store, results: undefined, history: first.store },
    address: first.scheduler.address,
    ledger: new Ledger(),
    clock: systemClock,
    log: silentLog,
    launcher,
  })
  await t.rejects(other, { code: 9, message: /work is in use by another worker/ })
  t.match(await first.scheduler.next('result'), { attemptId, executeResponse: { result: { exitCode: 0 } } })
})

t.test('a worker that does not start releases its work_directory for the next', async (t) => {
  const { directory, store, scheduler } = await setUp(t)
  const starting = (entrypoint: string) =>
    startLocalWorker({
      name: 'other',
      options: workerOptions(directory, { entrypoint, work_directory: join(directory, 'other') }),
      stores: { cas: store, results: undefined, history: store },
      address: scheduler.address,
      ledger: new Ledger(),
      clock: systemClock,
      log: silentLog,
      launcher,
    })
  await t.rejects(starting("env 'A"), { code: 3 })
  const worker = await starting('')
  await worker.close(10_000)
})
