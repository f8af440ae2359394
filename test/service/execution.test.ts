import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import { unpack } from '../../src/proto/any.js'
import { codec, type Output } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { durationOf } from '../../src/proto/time.js'
import type { Digest } from '../../src/reapi/digest.js'
import { internalCall } from '../../src/rpc/call.js'
import {
  AC,
  type BuiltAction,
  buildAction,
  directoryCodec,
  EXECUTION,
  ExecutionStage,
  type FakeWorker,
  metadataCodec,
  Reader,
  responseOf,
  resultCodec,
  serveExecution,
  stageOf,
} from './execution-harness.js'
import { FaultyStore } from './faulty-store.js'
import { BLAKE3, blobOf, failure, memoryStore, put, SHA256, wire } from './harness.js'

const failureCodec = codec('google.rpc.PreconditionFailure')
const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const retryCodec = codec('google.rpc.RetryInfo')

const cached = (client: { unary: (name: string, request: object) => { response: Promise<unknown> } }, digest: object) =>
  failure(client.unary(`${AC}/GetActionResult`, { actionDigest: digest }).response)

t.test('EXE-01, EXE-02, EXE-03, EXE-04, EXE-05, EXE-09, EXE-46: the stream of a run', async (t) => {
  const server = await serveExecution(t)
  const built = await server.upload(buildAction({ action: { salt: Buffer.from('stream') } }))
  const stream = new Reader(server.execute(built))
  const first = await stream.next()
  t.match(first.name, /^operations\/main\/id-\d+$/, 'EXE-01: a name before any worker is there')
  t.equal(first.done, false)
  const worker = await server.worker()
  const start = await worker.start()
  t.match(start, { operationName: first.name, instanceName: '', digestFunction: SHA256.value })
  t.same(wire(built.digest), { ...start.actionDigest })
  const executing = await stream.until((operation) => stageOf(operation) === ExecutionStage.EXECUTING)
  worker.succeed(start, { stdoutRaw: Buffer.from('hi') })
  const [last, ...more] = await stream.rest()
  t.same(more, [])
  if (last === undefined) throw new Error('no last message')
  for (const operation of [first, executing, last]) {
    t.equal(operation.error, null, 'EXE-03')
    t.equal(operation.metadata?.typeUrl, 'type.googleapis.com/build.bazel.remote.execution.v2.ExecuteOperationMetadata')
    const metadata = unpack(metadataCodec, operation.metadata ?? { typeUrl: '', value: Buffer.alloc(0) })
    t.same({ ...metadata.actionDigest }, wire(built.digest), 'EXE-04')
    t.equal(metadata.digestFunction, SHA256.value)
    t.not(metadata.stage, ExecutionStage.UNKNOWN, 'EXE-05')
    t.equal(metadata.stage === ExecutionStage.COMPLETED, operation.done, 'EXE-05')
    t.equal(operation.name, first.name)
  }
  t.equal(last.done, true, 'EXE-02')
  const { result, cachedResult, status } = responseOf(last)
  t.equal(result?.stdoutRaw.toString(), 'hi')
  t.equal(cachedResult, false)
  t.equal(status?.code ?? 0, Code.OK)
  t.equal(result?.executionMetadata?.worker, worker.id, 'EXE-46')
  t.equal((await cached(server.client, wire(built.digest))).code, 'OK', 'EXE-09: in the action cache by now')
})

t.test('EXE-06, EXE-44, EXE-46: a cache hit runs nothing', async (t) => {
  const server = await serveExecution(t)
  const built = await server.upload(buildAction())
  const output = blobOf('output')
  await put(server.cas, output)
  const bytes = resultCodec.encode({ outputFiles: [{ path: 'o', digest: wire(output.digest) }] })
  await put(server.ac, { digest: built.digest, bytes })
  const messages = await new Reader(server.execute(built)).rest()
  const last = messages.at(-1)
  t.equal(
    messages.every((message) => stageOf(message) !== ExecutionStage.QUEUED),
    true,
  )
  const { cachedResult, result } = responseOf(last ?? messages[0] ?? fail())
  t.equal(cachedResult, true)
  t.not(result?.executionMetadata, null, 'EXE-46: although the entry has none')

  await server.cas.remove(output.digest, 'unwanted', internalCall())
  const worker = await server.worker()
  const again = new Reader(server.execute(built))
  worker.succeed(await worker.start(), { exitCode: 0 })
  t.equal(responseOf((await again.rest()).at(-1) ?? fail()).cachedResult, false, 'an incomplete entry is none')
})

const fail = (): never => {
  throw new Error('nothing came')
}

t.test('EXE-07, EXE-08, EXE-10, EXE-23: lookups, storing and sharing of results', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const run = async (stream: Reader<Output<'google.longrunning.Operation'>>, exitCode: number, code = 0) => {
    worker.report(await worker.start(), { executeResponse: { result: { exitCode }, status: { code } } })
    return responseOf((await stream.rest()).at(-1) ?? fail())
  }
  const built = await server.upload(buildAction())
  await put(server.ac, { digest: built.digest, bytes: resultCodec.encode({ stdoutRaw: Buffer.from('poison') }) })
  const skipping = await run(new Reader(server.execute(built, { skipCacheLookup: true })), 0)
  t.equal(skipping.result?.stdoutRaw.length, 0, 'EXE-07: a new result, not the cached one')
  const kept = await server.client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest) }).response
  t.equal(kept.stdoutRaw.length, 0, 'EXE-07: replaced')

  const private_ = await server.upload(buildAction({ action: { doNotCache: true } }))
  const [one, two] = [new Reader(server.execute(private_)), new Reader(server.execute(private_))]
  const starts = [await worker.start(), await worker.start()]
  t.not(starts[0]?.attemptId, starts[1]?.attemptId, 'EXE-08: not merged')
  for (const start of starts) worker.succeed(start)
  await Promise.all([one.rest(), two.rest()])
  t.equal((await cached(server.client, wire(private_.digest))).code, 'NOT_FOUND', 'EXE-08')

  const failing = await server.upload(buildAction({ action: { salt: Buffer.from('exit 3') } }))
  const failed = await run(new Reader(server.execute(failing)), 3)
  t.match({ code: failed.status?.code ?? 0, exitCode: failed.result?.exitCode }, { code: 0, exitCode: 3 }, 'EXE-23')
  t.equal((await cached(server.client, wire(failing.digest))).code, 'NOT_FOUND', 'a failed command is not kept')

  const late = await server.upload(buildAction({ action: { salt: Buffer.from('late') } }))
  const response = await run(new Reader(server.execute(late)), 0, Code.DEADLINE_EXCEEDED)
  t.equal(response.status?.code, Code.DEADLINE_EXCEEDED)
  t.equal((await cached(server.client, wire(late.digest))).code, 'NOT_FOUND', 'EXE-10')

  const again = await run(new Reader(server.execute(built, { skipCacheLookup: true })), 0)
  t.equal(again.cachedResult, false)
  await new Reader(server.execute(built)).rest()
  const recorded = [...server.records].reverse().filter(({ outcome }) => outcome !== 'miss')
  t.same(
    recorded.map(({ action, outcome, reason = '' }) => [action, outcome, reason]),
    [
      [built.digest.key, 'written', ''],
      [built.digest.key, 'hit', ''],
      [private_.digest.key, 'ran', 'do_not_cache'],
      [private_.digest.key, 'ran', 'do_not_cache'],
      [failing.digest.key, 'ran', 'exit code 3'],
      [late.digest.key, 'failed', 'DEADLINE_EXCEEDED'],
      [built.digest.key, 'written', ''],
      [built.digest.key, 'hit', ''],
    ],
    'records for pages',
  )
})

t.test('records of lookups over the wire: hits, why misses were misses, and for which target', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const output = blobOf('an output')
  await put(server.cas, output)
  const built = await server.upload(buildAction())
  const metadata = new Metadata()
  const request = { toolInvocationId: 'build', targetId: '//:it', actionMnemonic: 'Genrule', configurationId: 'fast' }
  metadata.set(REQUEST_METADATA, requestMetadataCodec.encode(request))
  const lookUp = (digest = built.digest) =>
    server.client.unary(`${AC}/GetActionResult`, { actionDigest: wire(digest) }, { metadata }).response
  t.equal((await failure(lookUp())).code, 'NOT_FOUND')
  const stream = new Reader(server.execute(built))
  worker.succeed(await worker.start(), { outputFiles: [{ path: 'out', digest: wire(output.digest) }] })
  await stream.rest()
  await lookUp()
  await server.cas.remove(output.digest, 'unwanted', internalCall())
  t.equal((await failure(lookUp())).code, 'NOT_FOUND')
  await put(server.ac, { digest: built.digest, bytes: Buffer.from('no result') })
  t.equal((await failure(lookUp())).code, 'NOT_FOUND')
  const unknown = buildAction({ action: { salt: Buffer.from('unknown') } })
  await new Reader(server.execute(unknown)).rest()

  const of = { invocation: 'build', target: '//:it', mnemonic: 'Genrule', configuration: 'fast', instance: '' }
  const action = built.digest.key
  const sizeBytes = Number
  t.match([...server.records].reverse(), [
    { ...of, action, outcome: 'miss', reason: 'absent' },
    { action, outcome: 'written', invocation: '' },
    { ...of, action, outcome: 'hit', sizeBytes },
    { ...of, action, outcome: 'miss', reason: 'incomplete', output: output.digest.key },
    { ...of, action, outcome: 'miss', reason: 'damaged' },
    { action: unknown.digest.key, outcome: 'failed', reason: 'FAILED_PRECONDITION' },
  ])
  t.equal([...server.records].length, 6)
})

t.test('EXE-13: thousands of missing files are listed once each, in one detail, in parts of work', async (t) => {
  const server = await serveExecution(t)
  const files = Array.from({ length: 5_500 }, (_, at) => {
    const { digest } = blobOf(`file ${at % 5_000}`)
    return { name: `f${String(at).padStart(4, '0')}`, digest: wire(digest) }
  })
  const built = buildAction({ root: { files } })
  await put(server.cas, built.action, built.root)
  const { status } = responseOf((await new Reader(server.execute(built.digest)).rest()).at(-1) ?? fail())
  t.match(
    status?.message,
    /^the CAS lacks 5,001 blobs that the action needs, upload first: blobs\/[^,]+(, blobs\/[^,]+){2}, \.\.\.$/,
  )
  t.equal(status?.details.length, 1)
  const [detail = { typeUrl: '', value: Buffer.alloc(0) }] = status?.details ?? []
  const { violations } = unpack(failureCodec, detail)
  const subjects = new Set(violations.map(({ subject }) => subject))
  t.equal(violations.length, 5001)
  t.same(
    subjects,
    new Set([
      ...files.map(({ digest }) => `blobs/${digest.hash}/${digest.sizeBytes}`),
      `blobs/${built.command.digest.hash}/${built.command.digest.sizeBytes}`,
    ]),
  )
})

t.test('EXE-11 to EXE-17: missing blobs are listed once each, in a done operation', async (t) => {
  const server = await serveExecution(t)
  const file = blobOf('an input')
  const leaf = blobOf(directoryCodec.encode({ files: [{ name: 'f', digest: wire(file.digest) }] }))
  const gone = blobOf(directoryCodec.encode({ symlinks: [{ name: 'l', target: 't' }] }))
  const root = {
    directories: [
      { name: 'gone', digest: wire(gone.digest) },
      { name: 'leaf', digest: wire(leaf.digest) },
    ],
  }
  const built = buildAction({ root })
  const subject = ({ digest }: { digest: { hash: string; sizeBytes: number } }) =>
    `blobs/${digest.hash}/${digest.sizeBytes}`
  const missing = async (digest = built.digest) => {
    const messages = await new Reader(server.execute(digest)).rest()
    const last = messages.at(-1)
    t.equal(last?.done, true, 'EXE-16')
    const { status } = responseOf(last ?? fail())
    t.equal(status?.code, Code.FAILED_PRECONDITION)
    t.equal(status?.details.length, 1, 'EXE-15')
    const detail = status?.details[0] ?? { typeUrl: '', value: Buffer.alloc(0) }
    t.equal(detail.typeUrl, 'type.googleapis.com/google.rpc.PreconditionFailure')
    const { violations } = unpack(failureCodec, detail)
    t.ok(violations.every(({ type }) => type === 'MISSING'))
    return violations.map((violation) => violation.subject).sort()
  }
  t.same(await missing(), [subject(built.action)], 'EXE-11')
  await put(server.cas, built.action)
  t.same(await missing(), [subject(built.command), subject(built.root)].sort(), 'EXE-12: both')
  await put(server.cas, built.root, leaf)
  const below = [subject(built.command), subject(gone), subject(file)].sort()
  t.same(await missing(), below, 'EXE-13: the tree too, as something is missing anyway')
  await put(server.cas, gone, file)
  t.same(await missing(), [subject(built.command)])
  const blake = buildAction({ digestFunction: BLAKE3 })
  const { hash, sizeBytes } = blake.digest
  t.same(await missing(blake.digest), [`blobs/blake3/${hash}/${sizeBytes}`], 'EXE-14')

  await put(server.cas, built.command)
  const worker = await server.worker()
  const stream = new Reader(server.execute(built))
  worker.succeed(await worker.start())
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK, 'EXE-17')
})

t.test('EXE-18, EXE-19, EXE-28, EXE-31: an invalid request fails the call', async (t) => {
  const settings = { supportedPlatformProperties: new Map([['os', 'exact'] as const, ['cpu', 'minimum'] as const]) }
  const server = await serveExecution(t, { settings })
  const garbage = blobOf('\xff\xff\xff\xff garbage')
  await put(server.cas, garbage)
  const refused = async (title: string, stream: ReturnType<typeof server.execute>, message: RegExp) => {
    t.match(await failure(new Reader(stream).rest()), { code: 'INVALID_ARGUMENT', message }, title)
  }
  const of = async (parts: Parameters<typeof buildAction>[0]) => server.execute(await server.upload(buildAction(parts)))
  await refused('EXE-18: Action', server.execute(garbage.digest), /Action [0-9a-f]{64}-\d+: /)
  await refused('EXE-18: Command', await of({ action: { commandDigest: wire(garbage.digest) } }), /Command/)
  await refused('no command digest', await of({ action: { commandDigest: null } }), /command_digest/)
  await refused('no input root', await of({ action: { inputRootDigest: null } }), /input_root_digest/)
  const short = server.client.serverStream(`${EXECUTION}/Execute`, {
    actionDigest: { hash: 'a'.repeat(63), sizeBytes: 1 },
  })
  await refused('EXE-19', short, /hash/)
  await refused('no digest', server.client.serverStream(`${EXECUTION}/Execute`, {}), /action_digest is missing/)
  const years = durationOf(10 * 365 * 86_400_000)
  await refused('EXE-28', await of({ action: { timeout: years } }), /Action.timeout.*expected at most 3600 s/)
  await refused('no arguments', await of({ command: { arguments: [] } }), /arguments/)
  await refused('absolute output', await of({ command: { outputPaths: ['/etc/x'] } }), /output_paths/)
  const platform = { properties: [{ name: 'foo', value: 'bar' }] }
  await refused('EXE-31', await of({ action: { platform } }), /"foo" is not supported here, expected one of os, cpu/)
  await refused('EXE-31: in Command', await of({ command: { platform } }), /"foo" is not supported/)
  const cpu = { properties: [{ name: 'cpu', value: 'many' }] }
  await refused(
    'not a number',
    await of({ action: { platform: cpu } }),
    /cpu: "many" is not valid, expected a whole number/,
  )
})

t.test('INS-02, INS-05, EXE-38: instances', async (t) => {
  const server = await serveExecution(t, { instances: ['', 'a/b'] })
  const built = buildAction()
  const on = (instanceName: string) => failure(new Reader(server.execute(built, { instanceName })).rest())
  t.match(await on('nope'), {
    code: 'INVALID_ARGUMENT',
    message: /"nope" is not configured, expected one of "", "a\/b"/,
  })
  t.match(await on('a/operations/b'), { code: 'INVALID_ARGUMENT', message: /operations is reserved/ })
  t.match(await on('cache'), {
    code: 'UNIMPLEMENTED',
    message: /"cache" does not execute actions, expected one of "", "a\/b"/,
  })
})

t.test('an Execute that is refused is one line in the log at the default level, an accepted one none', async (t) => {
  const server = await serveExecution(t, {
    settings: { supportedPlatformProperties: new Map([['os', 'exact'] as const]) },
    instance: { maxTimeoutMs: 60_000 },
  })
  const told = (): string[] => server.logged.splice(0).filter((line) => / (info|warn|error) +Execute/.test(line))
  const upload = (parts: Parameters<typeof buildAction>[0]) => server.upload(buildAction(parts))
  const good = await server.upload(buildAction())
  const long = await upload({ action: { timeout: { seconds: 7200 } } })
  const foreign = await upload({ action: { platform: { properties: [{ name: 'ISA', value: 'x' }] } } })
  const empty = await upload({ command: { arguments: [] } })
  const absent = buildAction({ action: { salt: Buffer.from('absent') } })
  const cases: [string, BuiltAction | Digest, object, RegExp][] = [
    [
      'another instance',
      good,
      { instanceName: 'nope' },
      /instance=nope action=[0-9a-f]{64}-\d+ code=INVALID_ARGUMENT .*not configured/,
    ],
    ['no execution', good, { instanceName: 'cache' }, /instance=cache .*code=UNIMPLEMENTED/],
    [
      'no digest',
      good,
      { actionDigest: { hash: 'zz', sizeBytes: 1 } },
      /action=zz-1 code=INVALID_ARGUMENT .*action_digest/,
    ],
    ['a timeout', long, {}, /instance="" action=[0-9a-f]{64}-\d+ code=INVALID_ARGUMENT reason="Action.timeout: 7200 s/],
    ['a property', foreign, {}, /code=INVALID_ARGUMENT .*ISA/],
    ['a command', empty, {}, /code=INVALID_ARGUMENT .*Command.arguments/],
    ['the missing blobs', absent, {}, /code=FAILED_PRECONDITION .*the CAS lacks/],
    ['a huge name', good, { instanceName: 'x'.repeat(100_000) }, /instance=x{500}\.\.\. /],
  ]
  for (const [title, action, request, line] of cases) {
    told()
    await failure(new Reader(server.execute(action, request)).rest())
    const lines = told()
    t.equal(lines.length, 1, title)
    t.match(lines[0], line, title)
    t.match(lines[0], /peer=/, title)
    t.ok((lines[0]?.length ?? 0) < 2000, title)
  }
  const worker = await server.worker()
  const accepted = new Reader(server.execute(good))
  worker.succeed(await worker.start())
  await accepted.rest()
  t.same(told(), [])
  for (let count = 0; count < 100; count++) {
    await failure(new Reader(server.execute(good, { instanceName: 'nope' })).rest())
  }
  t.ok(told().length < 60, 'a client that repeats a refused call does not fill the log')
  server.clock.advance(60_000)
  t.match(told().join(''), /Execute ended without a result: more of these were not written count=\d+/)
})

t.test('INS-07: an operation name contains its instance', async (t) => {
  const server = await serveExecution(t, { instances: ['a/b', 'c'] })
  const built = buildAction()
  const worker = await server.worker()
  const names: string[] = []
  for (const instanceName of ['a/b', 'c']) {
    const missing = (await new Reader(server.execute(built, { instanceName })).rest()).at(-1) ?? fail()
    t.match(missing.name, instanceName === 'c' ? /^c\/operations\/main\/id/ : /^a\/b\/operations\/main\/id/)
    names.push(missing.name)
  }
  for (const name of names) t.equal((await new Reader(server.wait(name)).rest()).at(-1)?.name, name)
  t.equal(worker.id.startsWith('w-'), true)
})

t.test('EXE-32: no worker, or none that matches', async (t) => {
  const settings = { supportedPlatformProperties: new Map([['arch', 'exact'] as const]) }
  const server = await serveExecution(t, { settings })
  const arm = { properties: [{ name: 'arch', value: 'arm64' }] }
  const built = await server.upload(buildAction({ action: { platform: arm } }))
  const stream = new Reader(server.execute(built))
  await stream.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)
  t.match(server.logged.join(''), /No workers available: 1 action waits, asked for arch=arm64; no worker is connected/)
  server.clock.advance(58_000)
  await server.worker({ properties: [{ name: 'arch', values: ['x86_64', 'riscv'] }] })
  server.clock.advance(2_000)
  const { status } = responseOf((await stream.rest()).at(-1) ?? fail())
  t.equal(status?.code, Code.FAILED_PRECONDITION)
  t.match(
    status?.message,
    /asked for arch=arm64; of 1 connected worker arch=arm64 is offered by none \(arch: x86_64, riscv\)/,
  )
})

t.test('EXE-33: a full queue says when to come back', async (t) => {
  const server = await serveExecution(t, { settings: { maxQueuedActions: 1 } })
  const queued = new Reader(server.execute(await server.upload(buildAction())))
  await queued.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)
  const shared = new Reader(server.execute(buildAction()))
  await shared.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)
  const other = await server.upload(buildAction({ action: { salt: Buffer.from('other') } }))
  const full = responseOf((await new Reader(server.execute(other)).rest()).at(-1) ?? fail())
  t.equal(full.status?.code, Code.RESOURCE_EXHAUSTED)
  const [detail] = full.status?.details ?? []
  t.equal(unpack(retryCodec, detail ?? { typeUrl: '', value: Buffer.alloc(0) }).retryDelay?.seconds, 1)

  server.host.drain()
  const draining = responseOf((await new Reader(server.execute(other)).rest()).at(-1) ?? fail())
  t.equal(draining.status?.code, Code.UNAVAILABLE)
})

t.test('EXE-34: a lost worker, an error of a worker, and the last error', async (t) => {
  const server = await serveExecution(t, { settings: { maxJobRetries: 2 } })
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const first = await server.worker({ name: 'first' })
  await first.start()
  server.clock.advance(5_100)
  const second = await server.worker({ name: 'second' })
  const again = await second.start()
  second.report(again, { workerError: { code: Code.INTERNAL, message: 'disk on fire' } })
  const third = await second.start()
  t.equal(third.operationName, again.operationName)
  t.not(third.attemptId, again.attemptId)
  second.report(third, { workerError: { code: Code.UNAVAILABLE, message: 'still on fire' } })
  const last = responseOf((await stream.rest()).at(-1) ?? fail())
  t.equal(last.status?.code, Code.UNAVAILABLE)
  t.match(last.status?.message, /3 of 3 tries failed, the last one: worker second-id-\d+: still on fire/)
})

t.test(
  'EXE-35, EXE-42, WAI-01, WAI-03, WAI-04: a client that disconnects ends nothing, and others can wait',
  async (t) => {
    const server = await serveExecution(t)
    const worker = await server.worker()
    const call = server.execute(await server.upload(buildAction()))
    call.on('error', () => {})
    const { name } = await new Reader(call).next()
    call.cancel()
    const start = await worker.start()
    const waiters = Array.from({ length: 5 }, () => new Reader(server.wait(name)))
    for (const waiter of waiters) t.equal(stageOf(await waiter.next()), ExecutionStage.EXECUTING, 'WAI-01: at once')
    for (let minute = 0; minute < 2; minute++) {
      for (let second = 0; second < 60; second += 2) {
        worker.send({ keepAlive: {} })
        server.host.get(name)
        server.clock.advance(2_000)
        await new Promise(setImmediate)
      }
    }
    worker.succeed(start)
    for (const waiter of waiters) t.equal((await waiter.rest()).at(-1)?.done, true, 'WAI-04')
    const after = await new Reader(server.wait(name)).rest()
    t.equal(after.length, 1)
    t.equal(after[0]?.done, true, 'WAI-03')
    server.clock.advance(61_000)
    t.equal((await failure(new Reader(server.wait(name)).rest())).code, 'NOT_FOUND', 'WAI-02: expired')
  },
)

t.test('WAI-02, WAI-05, WAI-06: names of no operation', async (t) => {
  const server = await serveExecution(t)
  for (const name of ['', 'nope', 'operations/', 'operations/gone', 'other/operations/x', '/operations/x']) {
    t.equal((await failure(new Reader(server.wait(name)).rest())).code, 'NOT_FOUND', JSON.stringify(name))
  }
})

t.test('EXE-36: identical actions run once for everyone', async (t) => {
  const server = await serveExecution(t)
  const built = await server.upload(buildAction())
  const streams = Array.from({ length: 10 }, () => new Reader(server.execute(built)))
  const names = new Set<string>()
  for (const stream of streams) names.add((await stream.until((one) => stageOf(one) === ExecutionStage.QUEUED)).name)
  t.equal(names.size, 10, 'each client has its own operation')
  const worker = await server.worker()
  worker.succeed(await worker.start(), { stdoutRaw: Buffer.from('once') })
  for (const stream of streams) {
    t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).result?.stdoutRaw.toString(), 'once')
  }
})

t.test('EXE-37: lower priorities run sooner', async (t) => {
  const server = await serveExecution(t)
  const order = [5, 0, -3, 5, 100]
  const streams: Reader<Output<'google.longrunning.Operation'>>[] = []
  const digests = new Map<string, number>()
  for (const [index, priority] of order.entries()) {
    const built = await server.upload(buildAction({ action: { salt: Buffer.from([index]) } }))
    digests.set(built.digest.hash, index)
    const stream = new Reader(server.execute(built, { executionPolicy: { priority } }))
    await stream.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)
    streams.push(stream)
  }
  const worker: FakeWorker = await server.worker({ maxInflightAttempts: 1 })
  const ran: number[] = []
  for (const _ of order) {
    const start = await worker.start()
    ran.push(digests.get(start.actionDigest?.hash ?? '') ?? -1)
    worker.succeed(start)
  }
  t.same(ran, [2, 1, 0, 3, 4])
  await Promise.all(streams.map((stream) => stream.rest()))
})

t.test('EXE-39, EXE-40: outputs are inlined for clients that ask for it', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const [stdout, file] = [blobOf('to stdout'), blobOf('to a file')]
  await put(server.cas, stdout, file)
  const built = await server.upload(buildAction())
  const plain = new Reader(server.execute(built))
  await plain.next()
  const hints = { inlineStdout: true, inlineOutputFiles: ['f'] }
  const hinted = new Reader(server.execute(built, hints))
  await hinted.next()
  worker.succeed(await worker.start(), {
    stdoutDigest: wire(stdout.digest),
    outputFiles: [{ path: 'f', digest: wire(file.digest) }],
  })
  const bare = responseOf((await plain.rest()).at(-1) ?? fail()).result
  t.same([bare?.stdoutRaw.length, bare?.outputFiles[0]?.contents.length], [0, 0])
  const full = responseOf((await hinted.rest()).at(-1) ?? fail()).result
  t.same([full?.stdoutRaw.toString(), full?.outputFiles[0]?.contents.toString()], ['to stdout', 'to a file'])
  t.same({ ...full?.stdoutDigest }, wire(stdout.digest), 'EXE-40: by digest as well')
})

t.test('EXE-45: BLAKE3 actions', async (t) => {
  const server = await serveExecution(t)
  const built = await server.upload(buildAction({ digestFunction: BLAKE3 }))
  const stream = new Reader(server.execute(built))
  const worker = await server.worker()
  const start = await worker.start()
  t.equal(start.digestFunction, BLAKE3.value)
  worker.succeed(start)
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK)
  const request = { actionDigest: wire(built.digest), digestFunction: BLAKE3.value }
  t.equal((await failure(server.client.unary(`${AC}/GetActionResult`, request).response)).code, 'OK')
})

t.test('with a failing action cache, an action runs and succeeds', async (t) => {
  const ac = new FaultyStore(await memoryStore())
  const server = await serveExecution(t, { instance: { ac } })
  ac.failReads = 'UNAVAILABLE'
  ac.failWrites = 'RESOURCE_EXHAUSTED'
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const worker = await server.worker()
  worker.succeed(await worker.start())
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK)
  t.match(server.logged.join(''), /the action cache does not answer[\s\S]*could not be kept/)
})

t.test('the service does not write results that workers write themselves', async (t) => {
  const server = await serveExecution(t, { instance: { isWrittenHere: false } })
  const built = await server.upload(buildAction())
  const stream = new Reader(server.execute(built))
  const worker = await server.worker()
  worker.succeed(await worker.start())
  await stream.rest()
  t.equal((await cached(server.client, wire(built.digest))).code, 'NOT_FOUND')
})

t.test('EXE-20: unsorted and repeated entries run as they are', async (t) => {
  const server = await serveExecution(t)
  const variables = ['B', 'A', 'A'].map((name) => ({ name, value: 'x' }))
  const command = { environmentVariables: variables, outputPaths: ['z', 'a', 'a'] }
  const stream = new Reader(server.execute(await server.upload(buildAction({ command }))))
  const worker = await server.worker()
  worker.succeed(await worker.start())
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK)
})
