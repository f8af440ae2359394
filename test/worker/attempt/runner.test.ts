import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Code, type CodeName, StatusError } from '../../../src/base/status-error.js'
import type { BlobFiles } from '../../../src/blobs/store.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import type { ExecutedActionMetadataInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { ProgressStage } from '../../../src/proto/generated/remexec.worker.v1.js'
import { type Time, toMs } from '../../../src/proto/time.js'
import { Digest } from '../../../src/reapi/digest.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { until } from '../../until.js'
import { FileStore } from '../file-store.js'
import { actionCodec, BLAKE3, SHA256, setUp, sh } from './runner-set-up.js'

const usageCodec = codec('remexec.worker.v1.CommandUsage')
const historyCodec = codec('remexec.worker.v1.HistoricalExecuteResponse')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

t.test('EXE-40, EXE-50, EXE-46 a run from digest to result', async (t) => {
  const { run, store, text, start, action, rest } = await setUp(t)
  const input = store.keep('input')
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  const { result, status } = await run(
    { ...sh('cat in > out/copy; echo to stdout; echo to stderr >&2'), outputPaths: ['out/copy'] },
    root,
  )
  t.notOk(status)
  t.match(result, { exitCode: 0, outputFiles: [{ path: 'out/copy' }], executionMetadata: { worker: 'tester' } })
  t.equal(text(result?.stdoutDigest as never), 'to stdout\n')
  t.equal(text(result?.stderrDigest as never), 'to stderr\n')
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'input')
  const silent = await run(sh('exit 0'))
  t.notOk(silent.result?.stdoutDigest || silent.result?.stderrDigest, 'an empty stream leaves both fields unset')
  t.equal(store.leased.size, 0)
  const blake = await start(action(sh('echo hi'), {}, {}, BLAKE3))
  t.equal(blake.executeResponse?.result?.stdoutDigest?.hash, BLAKE3.hash(Buffer.from('hi\n')), 'EXE-45')
  t.same(await rest(), [])
})

t.test('EXE-47, EXE-48 timestamps never decrease', async (t) => {
  const { action, start } = await setUp(t)
  const queuedMs = Date.now() + 5000
  const { executeResponse } = await start(action(sh('echo x')), { queuedMs })
  const metadata = executeResponse?.result?.executionMetadata
  const fields = [
    'queuedTimestamp',
    'workerStartTimestamp',
    'inputFetchStartTimestamp',
    'inputFetchCompletedTimestamp',
    'executionStartTimestamp',
    'executionCompletedTimestamp',
    'outputUploadStartTimestamp',
    'outputUploadCompletedTimestamp',
    'workerCompletedTimestamp',
  ] as const satisfies readonly (keyof ExecutedActionMetadataInput)[]
  const times = fields.map((field) => toMs((metadata?.[field] ?? { seconds: -1, nanos: 0 }) as never))
  t.ok(times.every((time, index) => time >= (times[index - 1] ?? queuedMs)))
  t.ok(toMs((metadata?.virtualExecutionDuration ?? { seconds: 0, nanos: 0 }) as never) > 0)
})

const untold = loadLibc() === undefined && 'this system does not report resource usage'
t.test('the metadata of a result has the resource usage of its command', { skip: untold }, async (t) => {
  const { action, start } = await setUp(t)
  const busy = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
  const results = await Promise.all([start(action(sh('true'))), start(action(sh(busy)))])
  const [idle, worked] = results.map(({ executeResponse }) => {
    const [told] = executeResponse?.result?.executionMetadata?.auxiliaryMetadata ?? []
    const { userTime, systemTime, peakResidentBytes } = unpack(usageCodec, told as never)
    t.ok(userTime && systemTime)
    t.equal(peakResidentBytes, 0, 'not above the peak of this process, so it is unknown')
    return toMs(userTime as Time)
  })
  t.ok(Number(worked) > Number(idle), `${worked} ms beside ${idle}`)
})

t.test(
  'the metadata has the peak memory of a command if it exceeds that of its worker',
  { skip: untold },
  async (t) => {
    const { action, start } = await setUp(t)
    const bytes = process.resourceUsage().maxRSS * 1024 + 2 ** 26
    // It keeps the whole of a line without an end in memory.
    const { executeResponse } = await start(action(sh(`head -c ${bytes} /dev/zero | tail -n 1 | wc -c`)))
    const [told] = executeResponse?.result?.executionMetadata?.auxiliaryMetadata ?? []
    const { peakResidentBytes } = unpack(usageCodec, told as never)
    t.ok(peakResidentBytes > bytes && peakResidentBytes < 4 * bytes, `${peakResidentBytes} of ${bytes}`)
  },
)

t.test('EXE-23 a failing command is a result with its outputs', async (t) => {
  const { run, text } = await setUp(t)
  const { result, status } = await run({ ...sh('echo log > test.log; exit 3'), outputPaths: ['test.log', 'never'] })
  t.notOk(status)
  t.equal(result?.exitCode, 3)
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'log\n')
})

t.test('small outputs are held until their upload within a bound; further ones are read again', async (t) => {
  const { outputs } = new Ledger().kinds
  // An attempt may hold a sixteenth: 25,000 bytes.
  const ledger = new Ledger({ outputs: 400_000 })
  const { action, start, store } = await setUp(t, { ledger })
  let moved = 0
  const { reserve } = store.files
  const counting: BlobFiles['reserve'] = (call) => {
    moved += 1
    return reserve(call)
  }
  Object.assign(store.files, { reserve: counting })
  const held: number[] = []
  const onProgress = (stage: number): void => {
    if (stage === ProgressStage.UPLOADING_OUTPUTS) held.push(ledger.kinds.outputs.heldBytes)
  }
  const names = ['a', 'b', 'c', 'd']
  const script = names.map((name) => `head -c 10000 /dev/zero | tr '\\0' ${name} > ${name}`).join('; ')
  const { executeResponse } = await start(action({ ...sh(script), outputPaths: names }), { onProgress })
  t.match(executeResponse?.result, { exitCode: 0 })
  for (const name of names) {
    const digest = Digest.of(Buffer.alloc(10_000, name), SHA256)
    t.ok(store.written.includes(digest.key), name)
  }
  t.same(held, [20_000])
  t.equal(moved, 2, 'files beyond the bound, which are moved into the store')
  t.equal(ledger.kinds.outputs.limitedCount, 2)
  t.equal(ledger.kinds.outputs.heldBytes, 0, 'released when the attempt has ended')
  t.equal(outputs.maxBytes / 16, 8 * 1024 * 1024)
})

t.test('a worker that writes results itself leaves those of a branch to the server', async (t) => {
  const actionCache = new FileStore(t.testdir({}))
  const { action, start } = await setUp(t, { results: { actionCache } })
  const digest = action(sh('true'))
  await start(digest, { scope: 'refs/pull/1' })
  t.notOk(actionCache.has(digest))
  await start(digest, { scope: '' })
  t.ok(actionCache.has(digest))
})

t.test('CMD-09 a result of exit code 0 is cached although a declared output is missing', async (t) => {
  const actionCache = new FileStore(t.testdir({}))
  const { action, start } = await setUp(t, { results: { actionCache } })
  const digest = action({ ...sh('echo > made'), outputPaths: ['made', 'optional'] })
  t.match((await start(digest)).executeResponse, { result: { exitCode: 0 }, status: null })
  t.match(resultCodec.decode(actionCache.bytesOf(digest)), { exitCode: 0, outputFiles: [{ path: 'made' }] })
})

t.test('CMD-11 the output path "" is the whole working directory, not a symlink to it', async (t) => {
  const { run } = await setUp(t)
  const { result } = await run({ ...sh('echo > made'), outputPaths: [''] })
  t.match(result, { outputDirectories: [{ path: '' }], outputSymlinks: [] })
})

t.test('EXE-25 a missing program is a result', async (t) => {
  const { run, text } = await setUp(t)
  const { result, status } = await run({ arguments: ['nosuch'] })
  t.notOk(status)
  t.equal(result?.exitCode, 127)
  t.match(text(result?.stderrDigest as never), /cannot run "nosuch"/)
})

t.test('EXE-11, EXE-12, EXE-13 missing blobs are a final status that lists them all', async (t) => {
  const { store, start, action } = await setUp(t)
  const input = store.keep('input')
  const digest = action(sh('true'), { files: [{ name: 'x', digest: input.toMessage() }] })
  const { commandDigest } = actionCodec.decode(store.bytesOf(digest))
  store.drop(input)
  store.drop(Digest.parse(commandDigest, SHA256))
  const { executeResponse } = await start(digest)
  t.equal(executeResponse?.status?.code, 9)
  t.equal(executeResponse?.status?.details?.length, 1)
  t.match(executeResponse?.status?.message, /^the CAS lacks 2 blobs /)
  store.drop(digest)
  t.match((await start(digest)).executeResponse?.status, { code: 9, message: /^the CAS lacks 1 blob / })
  t.equal(store.leased.size, 0)
})

t.test('EXE-18, EXE-21, CMD-23 an invalid action is INVALID_ARGUMENT and final', async (t) => {
  const { store, start, action } = await setUp(t)
  const status = async (digest: Digest) => (await start(digest)).executeResponse?.status
  t.match(await status(store.keep('garbage')), { code: 3, message: /Action/ })
  t.match(await status(action({ arguments: [] })), { code: 3, message: /arguments/ })
  const commandDigest = store.keep('garbage').toMessage()
  t.match(await status(action(sh(''), {}, { commandDigest })), { code: 3, message: /Command/ })
  const hostile = { files: [{ name: '../x', digest: store.keep('x').toMessage() }] }
  t.match(await status(action(sh(''), hostile)), { code: 3, message: /"\.\.\/x" is not a valid name/ })
  t.match(await status(action(sh(''), {}, { inputRootDigest: null })), { code: 3, message: /input_root_digest/ })
})

t.test('CMD-03, CMD-04 the working directory', async (t) => {
  const { run, store, text } = await setUp(t)
  const b = store.keep(encodeDirectory({ symlinks: [{ name: 'x', target: '/' }] }))
  const a = store.keep(encodeDirectory({ directories: [{ name: 'b', digest: b.toMessage() }] }))
  const root = { directories: [{ name: 'a', digest: a.toMessage() }], symlinks: [{ name: 'alias', target: 'a/b' }] }
  const { result } = await run({ ...sh('pwd; echo x > x1'), workingDirectory: 'a/b', outputPaths: ['x1'] }, root)
  t.match(text(result?.stdoutDigest as never), /\/a\/b\n$/)
  t.match(result?.outputFiles, [{ path: 'x1' }])
  t.match((await run({ ...sh('true'), workingDirectory: 'alias' }, root)).result, { exitCode: 0 })
  for (const workingDirectory of ['nosuch', 'a/nosuch', 'a/b/x']) {
    const refused = await run({ ...sh('true'), workingDirectory, outputPaths: ['nosuch/x'] }, root)
    t.match(refused.status, { code: 3, message: /working_directory/ })
  }
})

t.test('CMD-08 an output of the wrong kind is a status beside the result', async (t) => {
  const { run } = await setUp(t)
  const { status, result } = await run({ ...sh('echo > f; echo said'), outputDirectories: ['f'] })
  t.match(status, { code: 9, message: /"f"/ })
  t.ok(result?.stdoutDigest && result.executionMetadata, 'EXE-44')
})

t.test('EXE-26, EXE-27, EXE-10 a timeout', async (t) => {
  const { run, text, directory } = await setUp(t, { results: { strategy: 'everything' } })
  const timeout = { seconds: 0, nanos: 300_000_000 }
  const { status, result } = await run({ ...sh('echo partial; sleep 1000'), outputPaths: ['x'] }, {}, { timeout })
  t.match(status, { code: 4, message: 'execution timeout exceeded' })
  t.equal(text(result?.stdoutDigest as never), 'partial\n')
  t.not(result?.exitCode, 0)
  t.ok(existsSync(directory))
})

t.test('what a test wrote until and after SIGTERM is in the result of its timeout, and not cached', async (t) => {
  const { directory } = await setUp(t)
  const results = new FileStore(join(directory, 'ac'))
  const { run, text } = await setUp(t, {
    execution: { terminationGraceMs: 60_000 },
    results: { actionCache: results.cas, strategy: 'everything' },
  })
  const timeout = { seconds: 0, nanos: 300_000_000 }
  const script = 'trap "echo xml > test.xml; echo trapped; exit 3" TERM; echo p > part; while :; do sleep 0.05; done'
  const command = { ...sh(script), outputPaths: ['test.xml', 'part', 'never'] }
  const { status, result } = await run(command, {}, { timeout })
  t.match(status, { code: 4 })
  t.match(result, { exitCode: 3, outputFiles: [{ path: 'test.xml' }, { path: 'part' }] })
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'xml\n')
  t.equal(text(result?.stdoutDigest as never), 'trapped\n')
  t.same(results.written, [], 'nothing was cached')
})

t.test('a link to the full path of a file of the action points to that file in the result', async (t) => {
  const { run, store } = await setUp(t)
  const script = [
    'mkdir -p d/e; echo hi > f; ln -s $PWD/f l; ln -s $PWD/f d/e/l; ln -s $PWD/d d/self; ln -s $PWD root',
    'ln -s /etc/hostname outside; ln -s $PWD/d/../f dotted',
  ].join('; ')
  const { status, result } = await run({ ...sh(script), outputPaths: ['f', 'l', 'd', 'root', 'outside', 'dotted'] })
  t.equal(status, null)
  t.match(result?.outputSymlinks, [
    { path: 'l', target: 'f' },
    { path: 'root', target: '.' },
    { path: 'outside', target: '/etc/hostname' },
    { path: 'dotted', target: 'd/../f' },
  ])
  const treeDigest = Digest.parse(result?.outputDirectories?.[0]?.treeDigest as never, SHA256)
  const tree = treeCodec.decode(store.bytesOf(treeDigest))
  t.match(tree.root?.symlinks, [{ name: 'self', target: '.' }])
  t.match(tree.children[0]?.symlinks, [{ name: 'l', target: '../../f' }])
})

t.test('a link into the work directory outside of the action is refused', async (t) => {
  const { run } = await setUp(t)
  const command = { ...sh('ln -s $(dirname $PWD)/other l'), outputPaths: ['l'] }
  t.match((await run(command)).status, { code: 9, message: /^output "l": .*leads into the worker's work directory/ })
})

t.test('a script of the working directory without a slash in its name is found', async (t) => {
  const { run, text, store } = await setUp(t)
  const digest = store.keep('#!/bin/sh\necho ran $1\n').toMessage()
  const root = { files: [{ name: 'cmd.sh', digest, isExecutable: true }] }
  const { result } = await run({ arguments: ['cmd.sh', 'x'] }, root)
  t.equal(result?.exitCode, 0)
  t.equal(text(result?.stdoutDigest as never), 'ran x\n')
})

t.test('EXE-28, EXE-29 the longest timeout', async (t) => {
  const { run } = await setUp(t, { execution: { maxTimeoutMs: 400 }, timeoutMessage: 'Execution timed out' })
  t.match((await run(sh('sleep 1000'))).status, { code: 4, message: 'Execution timed out' })
  const timeout = { seconds: 315_360_000, nanos: 0 }
  t.match((await run(sh('true'), {}, { timeout })).status, { code: 3, message: /expected at most 0.4 s/ })
  t.match((await run(sh('true'), {}, { timeout: { seconds: -1, nanos: 0 } })).status, { code: 3 })
})

t.test('timeouts that are handled by a wrapper', async (t) => {
  const additionalEnvironment = new Map([
    ['TIMEOUT', 'timeout_millis'],
    ['SIDE', 'side_channel_file'],
  ] as const)
  const { run, text, start, action } = await setUp(t, {
    execution: { isTimeoutHandledExternally: true, additionalEnvironment },
  })
  const timeout = { seconds: 0, nanos: 50_000_000 }
  const late = await run(sh('sleep 0.2; echo $TIMEOUT'), {}, { timeout })
  t.notOk(late.status)
  t.equal(text(late.result?.stdoutDigest as never), '50\n')
  t.match((await run(sh(`echo '{"failure": "timeout"}' > $SIDE; exit 1`))).status, { code: 4 })
  t.notOk((await run(sh(': > $SIDE'))).status)
  t.match(await start(action(sh('echo nonsense > $SIDE'))), { workerError: { code: 13, message: /side channel/ } })
})

t.test('a kill ends the attempt and leaves nothing behind', async (t) => {
  const { start, action, store, rest } = await setUp(t)
  const controller = new AbortController()
  const outcome = await start(action(sh('sleep 1000')), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  t.match(outcome, { workerError: { code: 10 } })
  t.equal(store.leased.size, 0)
  t.same(await rest(), [])
})

t.test('failures of the worker go back to the scheduler', async (t) => {
  const { start, action, store, warnings } = await setUp(t)
  const digest = action({ ...sh('echo x > x'), outputPaths: ['x'] })
  store.put = async () => {
    throw new Error('disk on fire at /secret/path')
  }
  t.match(await start(digest), { workerError: { code: 13, message: 'internal error' } })
  t.equal(warnings.length, 1)
})

t.test('an error of a store of the worker is never the fault of the action, whatever its code', async (t) => {
  const codes = Object.keys(Code).filter((code) => code !== 'OK') as CodeName[]
  for (const method of ['findMissing', 'get', 'put', 'lease', 'populate', 'locate', 'reserve', 'adopt'] as const) {
    for (const code of codes) {
      // Of an absent blob the action is told.
      if (code === 'NOT_FOUND') continue
      const { start, action, store, rest } = await setUp(t)
      const digest = store.keep('in')
      const root = { files: [{ name: 'in', digest: digest.toMessage() }] }
      const named = action({ ...sh('head -c 100000 /dev/zero > out; echo printed'), outputPaths: ['out'] }, root)
      if (method === 'populate') store.drop(digest)
      if (method === 'populate') store.behind.set(digest.key, Buffer.from('in'))
      const refuse = async (): Promise<never> => {
        throw new StatusError(code, 'said by the store')
      }
      const target = method in store ? store : store.files
      Object.assign(target, { [method]: refuse })
      const outcome = await start(named)
      t.match(outcome, { workerError: { code: Number } }, `${method} ${code}`)
      // The next set-up removes its folder.
      await rest()
    }
  }
})

t.test('the entrypoint and the precondition script', async (t) => {
  const { run, text } = await setUp(t, { execution: { entrypoint: ['/usr/bin/env', 'WRAPPED=yes'] } })
  t.equal(text((await run(sh('echo $WRAPPED'))).result?.stdoutDigest as never), 'yes\n')
  const refusing = await setUp(t, { execution: { preconditionScript: ['/bin/sh', '-c', 'exit 7'] } })
  const refused = await refusing.start(refusing.action(sh('true')))
  t.match(refused, { refused: { code: 8, message: /exit code 7/ } })
  const willing = await setUp(t, { execution: { preconditionScript: ['/bin/true'] } })
  t.match(await willing.run(sh('true')), { result: { exitCode: 0 } })
})

t.test('EXE-08, EXE-09, EXE-10 which results are written to the action cache', async (t) => {
  const expected = {
    success_only: ['ok'],
    never: [],
    everything: ['ok', 'failed'],
    failures_only: ['failed'],
  } as const
  for (const [strategy, kinds] of Object.entries(expected)) {
    const actionCache = new FileStore(t.testdir({}))
    const { start, action } = await setUp(t, {
      results: {
        actionCache,
        strategy: strategy as keyof typeof expected,
        successMessage: 'ok {action_digest_hash}/{action_digest_size} {digest_function} {other}',
        failureMessage: 'bad {action_digest_hash}',
      },
    })
    const actions = {
      ok: action(sh('echo fine')),
      failed: action(sh('exit 1')),
      uncacheable: action(sh('echo fine'), {}, { doNotCache: true }),
      broken: action({ ...sh('echo > f'), outputDirectories: ['f'] }),
    }
    const messages = new Map<string, string | undefined>()
    for (const [kind, digest] of Object.entries(actions)) {
      messages.set(kind, (await start(digest)).executeResponse?.message)
    }
    const cached = Object.entries(actions).filter(([, digest]) => actionCache.has(digest))
    t.same(
      cached.map(([kind]) => kind),
      kinds,
      strategy,
    )
    for (const [, digest] of cached) t.ok(resultCodec.decode(actionCache.bytesOf(digest)).executionMetadata)
    t.equal(messages.get('ok'), `ok ${actions.ok.hash}/${actions.ok.sizeBytes} sha256 {other}`)
    t.equal(messages.get('failed'), `bad ${actions.failed.hash}`)
  }
})

t.test('complete responses are stored by strategy, and the message refers to them', async (t) => {
  const expected = {
    success_only: ['ok'],
    never: [],
    everything: ['ok', 'failed', 'uncacheable failure', 'broken'],
    failures_only: ['failed', 'uncacheable failure', 'broken'],
  } as const
  for (const [historyStrategy, kinds] of Object.entries(expected)) {
    const history = new FileStore(t.testdir({}))
    const { start, action } = await setUp(t, {
      results: {
        history: history.cas,
        historyStrategy: historyStrategy as keyof typeof expected,
        successMessage: '{historical_results_hash}/{historical_results_size}',
        failureMessage: '{historical_results_hash}/{historical_results_size}',
      },
    })
    const actions = {
      ok: action(sh('echo fine')),
      failed: action(sh('exit 1')),
      'uncacheable failure': action(sh('exit 2'), {}, { doNotCache: true }),
      broken: action({ ...sh('echo > f'), outputDirectories: ['f'] }),
    }
    const kept: string[] = []
    for (const [kind, digest] of Object.entries(actions)) {
      const { executeResponse } = await start(digest)
      const [hash = '', sizeBytes = ''] = executeResponse?.message?.split('/') ?? []
      if (hash === '' && sizeBytes === '') continue
      kept.push(kind)
      const bytes = history.bytesOf(Digest.parse({ hash, sizeBytes: Number(sizeBytes) }, SHA256))
      const { actionDigest, executeResponse: told } = historyCodec.decode(bytes)
      t.equal(actionDigest?.hash, digest.hash)
      t.equal(told?.result?.exitCode, executeResponse?.result?.exitCode)
      t.equal(told?.status?.message, executeResponse?.status?.message)
      t.ok(told?.result?.executionMetadata?.workerCompletedTimestamp)
    }
    t.same(kept, kinds, historyStrategy)
    t.equal(history.written.length, kinds.length)
  }
})

t.test('a response that cannot be stored is still returned', async (t) => {
  const history = new FileStore(t.testdir({}))
  history.put = async () => {
    throw new Error('disk on fire')
  }
  const results = { history, historyStrategy: 'everything', successMessage: 'kept: {historical_results_hash}' } as const
  const { run, warnings } = await setUp(t, { results })
  t.match(await run(sh('true')), { result: { exitCode: 0 }, message: 'kept: ' })
  t.match(warnings, [[/could not keep the response/, {}]])
})

t.test('CMD-15 an action that writes to its input through the hard link', async (t) => {
  const { store, start, action, warnings } = await setUp(t)
  const bytes = Buffer.from('precious')
  const input = store.keep(bytes)
  store.behind.set(input.key, bytes)
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  const command = { ...sh('chmod u+w in; echo more >> in; cat in'), outputPaths: ['in'] }
  const digest = action(command, root)
  const { executeResponse } = await start(digest)
  t.notOk(executeResponse?.status)
  t.equal(executeResponse?.result?.stdoutDigest?.hash, SHA256.hash(Buffer.from('preciousmore\n')))
  t.equal(warnings.length, 1)
  t.equal(store.bytesOf(input).toString(), 'precious', 'the blob is whole again')

  store.behind.clear()
  t.notOk((await start(digest)).executeResponse?.status, 'the second time it gets copies at once')
  t.equal(warnings.length, 1)
  t.equal(store.bytesOf(input).toString(), 'precious')

  const other = action({ ...command, outputPaths: [] }, root)
  t.match(
    (await start(other)).executeResponse?.status,
    { code: 9 },
    'the client is asked again for a blob that exists nowhere else',
  )
})

t.test(
  'CMD-24 children outside of their process group are found and killed',
  { skip: !existsSync('/proc/self/stat') },
  async (t) => {
    const { run, text, leftovers } = await setUp(t)
    const { result } = await run(sh('setsid sleep 1000 & echo $!; cd /; setsid sleep 1000 & echo $!; sleep 0.2'))
    const pids = text(result?.stdoutDigest as never)
      .trim()
      .split('\n')
      .map(Number)
    t.equal(pids.length, 2)
    const isAlive = (pid: number) =>
      existsSync(`/proc/${pid}/status`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    t.ok(pids.every(isAlive))
    leftovers.sweep()
    await until(() => !pids.some(isAlive))
    t.pass()
  },
)
