import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { type LogFields, silentLog } from '../../../src/base/log.js'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import type {
  ActionInput,
  CommandInput,
  DirectoryInput,
  ExecutedActionMetadataInput,
} from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { type Time, toMs } from '../../../src/proto/time.js'
import { Digest } from '../../../src/reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import type { ExecutionSettings } from '../../../src/worker/attempt/execution.js'
import type { ResultPolicy } from '../../../src/worker/attempt/report.js'
import type { ActionContext, AttemptRequest } from '../../../src/worker/attempt/request.js'
import { ActionRunner } from '../../../src/worker/attempt/runner.js'
import { Launcher } from '../../../src/worker/command/launcher.js'
import { Leftovers } from '../../../src/worker/command/leftovers.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { Orphans } from '../../../src/worker/command/orphans.js'
import { Sandbox, type SandboxSettings } from '../../../src/worker/command/sandbox.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import { KeptRoots } from '../../../src/worker/input/kept-roots.js'
import type { ActionLimits } from '../../../src/worker/limit/limits.js'
import { OutOfMemory } from '../../../src/worker/limit/out-of-memory.js'
import { FileStore } from '../file-store.js'

const { SHA256, BLAKE3 } = digestFunctions
const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const usageCodec = codec('remexec.worker.v1.CommandUsage')
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

type Parts = Partial<Omit<ActionContext, 'execution' | 'results'>> & {
  readonly execution?: Partial<ExecutionSettings>
  readonly results?: Partial<ResultPolicy>
  readonly limits?: Partial<ActionLimits>
  readonly kept?: { readonly maxEntries: number; readonly maxBytes: number }
  readonly sandbox?: Sandbox | undefined
  /** How many processes the system has killed for want of memory. */
  readonly oomKills?: () => number
}

const launcher = new Launcher(silentLog)
t.teardown(() => launcher.close())

let workers = 0

const setUp = async (t: Test, { limits, oomKills, sandbox, kept, ...parts }: Parts = {}) => {
  // Each in a place of its own: a worker kills whoever lives in its work directory and is none of its own.
  const name = `worker${++workers}`
  // Registered before the directory is made: otherwise that is removed first, beside what the worker still removes there.
  t.teardown(async () => {
    leftovers.close()
    outOfMemory.close()
    await keptRoots?.close()
    await workDirectory.settle()
  })
  const directory = join(t.testdir({ [name]: { work: {} } }), name)
  const store = new FileStore(join(directory, 'cas'))
  const workDirectory = WorkDirectory.open(join(directory, 'work'), silentLog)
  const outOfMemory = new OutOfMemory(systemClock, oomKills)
  const orphans = kept && Orphans.adopted(launcher.libc)
  const leftovers = new Leftovers(workDirectory.path, systemClock, silentLog, orphans)
  const keptRoots = kept && new KeptRoots({ ...kept, discard: (directory) => workDirectory.discard(directory) })
  const warnings: [string, LogFields | undefined][] = []
  const runner = new ActionRunner({
    workerName: 'tester',
    store: store.cas,
    processes: { launcher, leftovers, workDirectory, outOfMemory, sandbox, keptRoots },
    maxUploadTimeoutMs: 60_000,
    timeoutMessage: 'execution timeout exceeded',
    clock: systemClock,
    log: { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) },
    ...parts,
    execution: {
      entrypoint: [],
      preconditionScript: undefined,
      additionalEnvironment: new Map(),
      defaultPath: '/usr/bin:/bin',
      maxTimeoutMs: 60_000,
      isTimeoutHandledExternally: false,
      limits: { printedBytes: 0, diskBytes: 0, processes: 0, memoryBytes: 0, ...limits },
      ...parts.execution,
    },
    results: {
      actionCache: undefined,
      strategy: 'success_only',
      successMessage: '',
      failureMessage: '',
      ...parts.results,
    },
  })
  let attempts = 0
  const start = (actionDigest: Digest, request: Partial<AttemptRequest> = {}) =>
    runner.run({
      attemptId: `a${++attempts}`,
      instanceName: 'main',
      actionDigest,
      properties: [],
      queuedMs: Date.now(),
      signal: new AbortController().signal,
      onProgress: () => {},
      ...request,
    })
  const action = (
    command: CommandInput,
    root: DirectoryInput = {},
    parts: ActionInput = {},
    digestFunction: DigestFunction = SHA256,
  ): Digest => {
    const commandDigest = store.keep(commandCodec.encode(command), digestFunction).toMessage()
    const inputRootDigest = store.keep(encodeDirectory(root), digestFunction).toMessage()
    return store.keep(actionCodec.encode({ commandDigest, inputRootDigest, ...parts }), digestFunction)
  }
  return {
    directory,
    store,
    /** What is in the work directory when nothing runs and nothing is kept. */
    rest: async () => {
      await workDirectory.settle()
      return readdirSync(workDirectory.path).flatMap((session) => readdirSync(join(workDirectory.path, session)))
    },
    leftovers,
    keptRoots,
    warnings,
    start,
    action,
    /** The ExecuteResponse of a command; fails on any other outcome. */
    run: async (command: CommandInput, root: DirectoryInput = {}, parts: ActionInput = {}) => {
      const outcome = await start(action(command, root, parts))
      if (outcome.executeResponse == null) throw new Error(`no response: ${JSON.stringify(outcome)}`)
      return outcome.executeResponse
    },
    text: (digest: Parameters<typeof Digest.parse>[0]) => store.bytesOf(Digest.parse(digest, SHA256)).toString(),
  }
}

const sh = (script: string): Pick<CommandInput, 'arguments'> => ({ arguments: ['/bin/sh', '-c', script] })

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

t.test('EXE-47, EXE-48 timestamps never go back', async (t) => {
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

const untold = loadLibc() === undefined && 'this system starts commands without telling what they took'
t.test('what a command took stands in the metadata of its result', { skip: untold }, async (t) => {
  const { action, start } = await setUp(t)
  const busy = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
  const results = await Promise.all([start(action(sh('true'))), start(action(sh(busy)))])
  const [idle, worked] = results.map(({ executeResponse }) => {
    const [told] = executeResponse?.result?.executionMetadata?.auxiliaryMetadata ?? []
    const { userTime, systemTime, peakResidentBytes } = unpack(usageCodec, told as never)
    t.ok(userTime && systemTime)
    t.ok(peakResidentBytes > 100 * 1024 && peakResidentBytes < 1024 ** 3, `${peakResidentBytes} bytes`)
    return toMs(userTime as Time)
  })
  t.ok(Number(worked) > Number(idle), `${worked} ms beside ${idle}`)
})

t.test('EXE-23 a failing command is a result with its outputs', async (t) => {
  const { run, text } = await setUp(t)
  const { result, status } = await run({ ...sh('echo log > test.log; exit 3'), outputPaths: ['test.log', 'never'] })
  t.notOk(status)
  t.equal(result?.exitCode, 3)
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'log\n')
})

t.test('CMD-09 a result of exit code 0 is cached although a declared output is missing', async (t) => {
  const actionCache = new FileStore(t.testdir({}))
  const { action, start } = await setUp(t, { results: { actionCache } })
  const digest = action({ ...sh('echo > made'), outputPaths: ['made', 'optional'] })
  t.match((await start(digest)).executeResponse, { result: { exitCode: 0 }, status: null })
  t.match(resultCodec.decode(actionCache.bytesOf(digest)), { exitCode: 0, outputFiles: [{ path: 'made' }] })
})

t.test('CMD-11 the output path "" is the whole working directory, not a link to it', async (t) => {
  const { run } = await setUp(t)
  const { result } = await run({ ...sh('echo > made'), outputPaths: [''] })
  t.match(result, { outputDirectories: [{ path: '' }], outputSymlinks: [] })
})

t.test('EXE-25 a program that is not there is a result', async (t) => {
  const { run, text } = await setUp(t)
  const { result, status } = await run({ arguments: ['nosuch'] })
  t.notOk(status)
  t.equal(result?.exitCode, 127)
  t.match(text(result?.stderrDigest as never), /cannot run "nosuch"/)
})

t.test('EXE-11, EXE-12, EXE-13 missing blobs are a final status that names them all', async (t) => {
  const { store, start, action } = await setUp(t)
  const input = store.keep('input')
  const digest = action(sh('true'), { files: [{ name: 'x', digest: input.toMessage() }] })
  const { commandDigest } = actionCodec.decode(store.bytesOf(digest))
  store.drop(input)
  store.drop(Digest.parse(commandDigest, SHA256))
  const { executeResponse } = await start(digest)
  t.equal(executeResponse?.status?.code, 9)
  t.equal(executeResponse?.status?.details?.length, 1)
  t.match(executeResponse?.status?.message, /^2 blobs .* not in the CAS/)
  store.drop(digest)
  t.match((await start(digest)).executeResponse?.status, { code: 9, message: /^1 blobs/ })
  t.equal(store.leased.size, 0)
})

t.test('EXE-18, EXE-21, CMD-23 what cannot be run as meant is INVALID_ARGUMENT and final', async (t) => {
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

t.test('CMD-08 a kind that does not fit is a status beside the result', async (t) => {
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

t.test('a kill ends the attempt and leaves nothing', async (t) => {
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

t.test('the entrypoint and the precondition script', async (t) => {
  const { run, text } = await setUp(t, { execution: { entrypoint: ['/usr/bin/env', 'WRAPPED=yes'] } })
  t.equal(text((await run(sh('echo $WRAPPED'))).result?.stdoutDigest as never), 'yes\n')
  const refusing = await setUp(t, { execution: { preconditionScript: ['/bin/sh', '-c', 'exit 7'] } })
  const refused = await refusing.start(refusing.action(sh('true')))
  t.match(refused, { refused: { code: 8, message: /exit code 7/ } })
  const willing = await setUp(t, { execution: { preconditionScript: ['/bin/true'] } })
  t.match(await willing.run(sh('true')), { result: { exitCode: 0 } })
})

t.test('EXE-08, EXE-09, EXE-10 what goes to the action cache', async (t) => {
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

t.test('CMD-15 an action that writes to its input through the link', async (t) => {
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
  t.match((await start(other)).executeResponse?.status, { code: 9 }, 'a blob that nobody else has is asked for again')
})

t.test(
  'CMD-24 children that fled their process group are found',
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
    while (pids.some(isAlive)) await setImmediate()
    t.pass()
  },
)

t.test('directories without rights are removed', async (t) => {
  const { run, rest } = await setUp(t)
  await run(sh('mkdir -p a/b/c; echo > a/b/f; chmod 000 a/b/c; chmod 500 a/b; chmod 555 a; ln -s / link'))
  t.same(await rest(), [])
})

t.test('an action that puts a symlink in place of its directory has nothing read or removed through it', async (t) => {
  const { run, rest, directory } = await setUp(t)
  const victim = join(directory, 'victim')
  mkdirSync(join(victim, 'root'), { recursive: true })
  for (const path of ['out', 'root/out']) writeFileSync(join(victim, path), 'secret')
  for (const above of ['.', '..']) {
    const script = `chmod u+w .. ../..; W=$(realpath ${above}); cd /; rm -rf "$W"; ln -s ${victim} "$W"; echo said`
    const { status, result } = await run({ ...sh(script), outputPaths: ['out'] })
    t.match(status, { code: 9, message: 'the directory the command ran in was removed or replaced' })
    t.same(result?.outputFiles ?? [], [])
    t.ok(result?.stdoutDigest)
  }
  t.same(await rest(), [])
  t.same(readdirSync(victim).sort(), ['out', 'root'])
  t.same(readdirSync(join(victim, 'root')), ['out'])
})

t.test('a command that removes its own directory has ended like any other when it declares no outputs', async (t) => {
  const { run } = await setUp(t)
  const { status, result } = await run(sh('chmod u+w ..; rm -rf "$PWD"; exit 3'))
  t.match([status, result?.exitCode], [null, 3])
})

t.test("the directory above the input root is in nobody's way", async (t) => {
  const { run, text } = await setUp(t)
  const { result } = await run(sh('stat -c %a .. ../..; ls -A ..'))
  t.equal(text(result?.stdoutDigest as never), '555\n311\nroot\n')
})

t.test('what a command printed cannot be removed', async (t) => {
  const { start, action, store } = await setUp(t)
  const script = 'F=$(readlink /proc/$$/fd/1); echo kept; rm -f "$F"'
  const { result } = (await start(action(sh(script)))).executeResponse ?? {}
  t.equal(result?.exitCode, 0)
  t.equal(
    store.bytesOf(Digest.parse(result?.stdoutDigest as Parameters<typeof Digest.parse>[0], SHA256)).toString(),
    'kept\n',
  )
})

const exceeded = (what: RegExp) => ({ executeResponse: { status: { code: 8, message: what } } })
/** As an action that nobody has anything against. */
const well = { result: { exitCode: 0 } }

t.test('an action that prints without end is ended, and one that printed too much and ended', async (t) => {
  const { start, action, run, rest } = await setUp(t, { limits: { printedBytes: 1_000_000 } })
  t.match(await start(action(sh('yes'))), exceeded(/it printed more than 1000000 bytes/))
  t.match(await start(action(sh('yes >&2 | sleep 1000'))), exceeded(/it printed more than 1000000 bytes/))
  t.match(await start(action(sh('head -c 1000001 /dev/zero'))), exceeded(/it printed more/))
  t.match(await run(sh('head -c 1000000 /dev/zero')), well)
  t.same(await rest(), [])
})

t.test('an action that fills the disk is ended, and what it wrote is gone', async (t) => {
  const { start, action, run, store, rest } = await setUp(t, { limits: { diskBytes: 2_000_000 } })
  const filling = sh('mkdir -p a/b; while :; do head -c 1000000 /dev/zero > a/b/$i; i=1$i; sleep 0.05; done')
  t.match(await start(action(filling)), exceeded(/its files have more than 2000000 bytes/))
  t.same(await rest(), [])
  const input = store.keep(Buffer.alloc(3_000_000))
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  t.match(await run(sh('head -c 1000000 /dev/zero > out; sleep 0.6'), root), well, 'inputs do not count')
})

const noProcesses = !existsSync('/proc/self/stat') && 'this system does not tell of processes'
t.test('an action that forks endlessly is ended, and the worker goes on', { skip: noProcesses }, async (t) => {
  const { start, action, run } = await setUp(t, { limits: { processes: 50 } })
  const forking = sh('while :; do sleep 1000 & done')
  t.match(await start(action(forking)), exceeded(/it had more than 50 processes/))
  t.match(await run(sh('true')), well)
})

t.test('an action that takes too much memory is ended', { skip: noProcesses }, async (t) => {
  const { start, action, run } = await setUp(t, { limits: { memoryBytes: 60_000_000 } })
  t.match(await start(action(sh('tail /dev/zero'))), exceeded(/it had more than 60000000 bytes of memory/))
  t.match(await run(sh('sleep 0.5')), well)
})

t.test('an action that the system killed for want of memory says so, and one killed otherwise does not', async (t) => {
  let kills = 3
  const { start, action } = await setUp(t, { oomKills: () => kills })
  const dying = sh('kill -9 $$')
  t.match(await start(action(dying)), { executeResponse: { status: null, result: { exitCode: 137 } } })
  kills = 4
  t.match(await start(action(dying)), exceeded(/its machine ran out of memory/))
  t.match(await start(action(sh('exit 1'))), { executeResponse: { status: null, result: { exitCode: 1 } } })
})

t.test('an action that ignores SIGTERM and closes what it prints to is killed at its timeout', async (t) => {
  const { run, rest } = await setUp(t, { execution: { maxTimeoutMs: 400 } })
  const { status } = await run(sh("trap '' TERM HUP INT; exec >&- 2>&-; while :; do sleep 1000; done"))
  t.match(status, { code: 4 })
  t.match(await run(sh('exec >&- 2>&-; echo lost; exit 0')), { result: { exitCode: 0, stdoutDigest: null } })
  t.same(await rest(), [])
})

t.test('an action that asks for outputs outside of its input root is refused', async (t) => {
  const { start, action } = await setUp(t)
  for (const path of ['../out', 'a/../../out', '/etc/passwd'])
    t.match(await start(action({ ...sh('true'), outputPaths: [path] })), { executeResponse: { status: { code: 3 } } })
  const leading = { ...sh('rm -rf d; ln -s / d'), outputPaths: ['d/etc/hostname'] }
  const outcome = await start(action(leading))
  t.match(outcome, { executeResponse: { status: { code: 9 } } }, 'through a link that it made')
})

const sandboxOf = (parts: Partial<SandboxSettings> = {}) =>
  Sandbox.open({ ownsMounts: true, keepsNetwork: false, isRoot: false, ...parts })
const noSandbox = await sandboxOf().then(
  () => false as const,
  ({ message }: Error) => message,
)

t.test('a confined action sees nobody, has no network and writes nowhere else', { skip: noSandbox }, async (t) => {
  process.env['REMEXEC_TEST_SECRET'] = 'secret-of-the-server'
  const { run, text, directory, store, rest } = await setUp(t, { sandbox: await sandboxOf() })
  const input = store.keep('precious')
  const root = { files: [{ name: 'in', digest: input.toMessage() }] }
  const printed = async (script: string): Promise<string> => {
    const { result } = await run({ ...sh(script), outputPaths: ['out'] }, root)
    return result?.stdoutDigest ? text(result.stdoutDigest as never) : ''
  }
  t.match(await printed('cat /proc/[0-9]*/comm'), /^bwrap\nsh\n$/, 'of the processes only its own')
  t.equal(await printed('cat /proc/*/environ | tr "\\0" "\\n" | grep secret'), '', 'nor their environment')
  t.match(await printed('grep : /proc/net/dev'), /^ *lo:[^:]*$/, 'of the networks only its loopback')
  t.equal(await printed(`ls ${directory}/work | wc -l`), '1\n', 'of the work directory only the way to its own')
  t.equal(await printed('ls -A /tmp /var/tmp | grep -v :; echo > /tmp/mine'), '\n', 'an own /tmp')
  for (const place of ['/etc/made', '/usr/made', '/var/made', `${directory}/made`, '/tmp/../made', '../made', 'in']) {
    const script = `if (echo spoilt > ${place}) 2>/dev/null; then echo wrote; else echo not; fi`
    t.equal(await printed(script), 'not\n', place)
  }
  t.notOk(existsSync(join(directory, 'made')))
  const { result } = await run({ ...sh('chmod u+w in; echo spoilt > in; cat in > out'), outputPaths: ['out'] }, root)
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'spoilt\n', 'its own copy')
  t.equal(store.bytesOf(input).toString(), 'precious')
  t.same(await rest(), [])
})

t.test('what a confined action started ends with it, whatever it does', { skip: noSandbox }, async (t) => {
  const { run } = await setUp(t, { sandbox: await sandboxOf() })
  const marker = `1000${process.pid}`
  const living = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${marker}\0`
      } catch {
        return false
      }
    })
  await run(sh(`(setsid sh -c 'cd /; exec sleep ${marker} >/dev/null 2>&1 </dev/null' &); sleep 0.1`))
  while (living().length > 0) await setImmediate()
  t.match(await run(sh('exit 3')), { result: { exitCode: 3 } }, 'its exit code is told')
  t.match(await run(sh('kill -9 $$')), { result: { exitCode: 137 } })
})

t.test('a client that takes the input root for / gets it', { skip: noSandbox }, async (t) => {
  const { run, text, store } = await setUp(t, { sandbox: await sandboxOf({ isRoot: true }) })
  // The machine's own shell, with what it is linked to, as a client would bring it.
  const files = ['/bin/sh', ...librariesOf('/bin/sh')]
  const tree: Record<string, { name: string; bytes: Buffer }[]> = {}
  for (const file of files) {
    const at = file.lastIndexOf('/')
    const folder = file.slice(1, at)
    tree[folder] = [...(tree[folder] ?? []), { name: file.slice(at + 1), bytes: readFileSync(file) }]
  }
  const rootOf = (prefix: string): DirectoryInput => {
    const below = Object.keys(tree).filter((path) => prefix === '' || path === prefix || path.startsWith(`${prefix}/`))
    const start = prefix === '' ? 0 : prefix.length + 1
    const names = new Set(below.filter((path) => path !== prefix).map((path) => path.slice(start).split('/')[0] ?? ''))
    const directories = [...names].sort().map((name) => {
      const bytes = encodeDirectory(rootOf(prefix === '' ? name : `${prefix}/${name}`))
      return { name, digest: store.keep(bytes).toMessage() }
    })
    const own = (tree[prefix] ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      directories,
      files: own.map(({ name, bytes }) => ({ name, digest: store.keep(bytes).toMessage(), isExecutable: true })),
    }
  }
  const script = 'cd /; echo /*; echo made > /made'
  const { result, status } = await run({ ...sh(script), outputPaths: ['made'] }, rootOf(''))
  t.notOk(status)
  const there = text(result?.stdoutDigest as never)
  t.notMatch(there, /etc|usr\/bin|home|root/)
  t.match(there, /\/bin .*\/dev .*\/proc .*\/tmp/)
  t.equal(text(result?.outputFiles?.[0]?.digest as never), 'made\n')
})

const librariesOf = (program: string): string[] =>
  execFileSync('ldd', [program], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])

const many = { maxEntries: 100, maxBytes: 0 }
const notKept = loadLibc() === undefined && 'without koffi no input root is kept'

/** A tree with a file, a program, a link and a directory in a directory. */
const treeIn = (store: FileStore): DirectoryInput => {
  const file = store.keep('precious').toMessage()
  const below = { files: [{ name: 'low', digest: file }] }
  const directory = {
    files: [{ name: 'in', digest: file }],
    directories: [{ name: 'below', digest: store.keep(encodeDirectory(below)).toMessage() }],
    symlinks: [{ name: 'link', target: 'in' }],
  }
  return {
    files: [{ name: 'program', digest: store.keep('#!/bin/sh\necho ran\n').toMessage(), isExecutable: true }],
    directories: [{ name: 'd', digest: store.keep(encodeDirectory(directory)).toMessage() }],
  }
}
const WHOLE = 'cat d/in d/link d/below/low; ./program; find . | sort | tr "\\n" " "'
const EXPECTED = 'preciouspreciouspreciousran\n. ./d ./d/below ./d/below/low ./d/in ./d/link ./program '

t.test(
  'an input root is used again by the next action, without what the last one added',
  { skip: notKept },
  async (t) => {
    const { run, text, store, keptRoots } = await setUp(t, { kept: many })
    const root = treeIn(store)
    const made = {
      ...sh('mkdir -p d/new/deep; echo > d/new/deep/f; echo out > out; stat -c %i .'),
      outputPaths: ['out'],
    }
    const first = await run(made, root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 1)
    const next = await run(sh(`stat -c %i .; ${WHOLE}`), root)
    t.equal(text(next.result?.stdoutDigest as never), `${text(first.result?.stdoutDigest as never)}${EXPECTED}`)
    t.equal(text(first.result?.outputFiles?.[0]?.digest as never), 'out\n')
    await keptRoots?.settle()
    const both = await Promise.all([run(sh(`sleep 0.1; ${WHOLE}`), root), run(sh(`sleep 0.11; ${WHOLE}`), root)])
    for (const { result } of both)
      t.equal(text(result?.stdoutDigest as never), EXPECTED, 'each of two at a time has one')
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 2)
  },
)

t.test('an action that writes into its inputs spoils them for no other', { skip: notKept }, async (t) => {
  const { run, text, store, keptRoots } = await setUp(t, { kept: many })
  const root = treeIn(store)
  // What is dropped from the store of the worker is to be had again.
  for (const bytes of ['precious', '#!/bin/sh\necho ran\n'])
    store.behind.set(Digest.of(Buffer.from(bytes), SHA256).key, Buffer.from(bytes))
  const spoiling = [
    'rm d/in',
    'rm d/in; echo other > d/in',
    'cp -p d/in x; rm d/in; mv x d/in',
    'chmod u+w d/in',
    'chmod u+w d/in; printf PRECIOUS > d/in; chmod u-w d/in',
    'touch d/in',
    'rm d/link; ln -s below/low d/link',
    'rm d/link',
    'mv d e; cp -rp e d',
    'mv d e; ln -s e d',
    'mv d/below ..; ln -s ../../below d/below',
    'chmod 700 d/below',
    'chmod 600 program',
    'cd ..; mv root other; mkdir root',
  ]
  for (const [index, script] of spoiling.entries()) {
    await run(sh(`${script}; echo ${index} > d/added; exit 0`), root)
    await keptRoots?.settle()
    const { result } = await run(sh(WHOLE), root)
    t.equal(text(result?.stdoutDigest as never), EXPECTED, script)
    await keptRoots?.settle()
  }
})

t.test(
  'an input root whose command left a process behind, or was killed, is not kept',
  { skip: notKept },
  async (t) => {
    const { run, store, keptRoots, leftovers } = await setUp(t, { kept: many, execution: { maxTimeoutMs: 300 } })
    const root = treeIn(store)
    await run(sh("(setsid sh -c 'cd /; exec sleep 1000 >/dev/null 2>&1 </dev/null' &); sleep 0.1"), root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 0)
    leftovers.look()
    await run(sh('sleep 1000'), root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 0)
    await run(sh('exit 1'), root)
    await keptRoots?.settle()
    t.equal(keptRoots?.size, 1)
  },
)

t.test('input roots are kept in bounds, those used last', { skip: notKept }, async (t) => {
  const { run, store, keptRoots, rest } = await setUp(t, { kept: { maxEntries: 3, maxBytes: 2_500 } })
  const rootOf = (bytes: number): DirectoryInput => ({
    files: [{ name: 'f', digest: store.keep(Buffer.alloc(bytes, bytes % 251)).toMessage() }],
  })
  for (const bytes of [1, 2, 3, 4, 5]) {
    await run(sh('true'), rootOf(bytes))
    await keptRoots?.settle()
  }
  t.equal(keptRoots?.size, 3)
  for (const bytes of [2_000, 1_000]) {
    await run(sh('true'), rootOf(bytes))
    await keptRoots?.settle()
  }
  t.equal(keptRoots?.size, 1)
  t.equal((await rest()).length, 1, 'the others are gone from the disk')
  await keptRoots?.close()
  t.same(await rest(), [])
})
