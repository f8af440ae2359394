/** Workers that send false messages: clients get the result of an honest worker, and the server keeps working. */
import t, { type Test } from 'tap'
import { Code } from '../../src/base/status-error.js'
import type { Input } from '../../src/proto/codec.js'
import { ProgressStage } from '../../src/proto/generated/remexec.worker.v1.js'
import {
  AC,
  buildAction,
  type ExecutionServer,
  type FakeWorker,
  OPERATIONS,
  Reader,
  responseOf,
  serveExecution,
  WORKER_API,
} from './execution-harness.js'
import { failure, MIB, wire } from './harness.js'

type Result = Input<'build.bazel.remote.execution.v2.ActionResult'>

const fail = (): never => {
  throw new Error('nothing came')
}

/** One action that runs on `liar`, and an honest worker that connected later. */
const begin = async (t: Test, settings = {}) => {
  const server = await serveExecution(t, { settings })
  const liar = await server.worker({ maxInflightAttempts: 1 })
  const built = await server.upload(buildAction({ command: { outputPaths: ['out'] } }))
  const stream = new Reader(server.execute(built))
  const start = await liar.start()
  const honest = await server.worker({ maxInflightAttempts: 1 })
  return { server, liar, honest, built, stream, start }
}

const outcomeOf = async ({ stream }: { readonly stream: Reader<Parameters<typeof responseOf>[0]> }) =>
  responseOf((await stream.rest()).at(-1) ?? fail())

/** Checks that the server still works, by running another action. */
const serves = async (t: Test, server: ExecutionServer, worker: FakeWorker): Promise<void> => {
  const built = await server.upload(buildAction({ action: { salt: Buffer.from('another') } }))
  const stream = new Reader(server.execute(built))
  worker.succeed(await worker.start(), { stdoutRaw: Buffer.from('fine') })
  t.equal((await outcomeOf({ stream })).result?.stdoutRaw.toString(), 'fine', 'the server still works')
}

/** Advances the clock by `seconds`, while the worker sends keepalives. */
const pass = async ({ clock, client }: ExecutionServer, worker: FakeWorker, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    worker.send({ keepAlive: {} })
    for (let turn = 0; turn < 3; turn++) await client.unary(`${OPERATIONS}/ListOperations`, {}).response
    clock.advance(1_000)
  }
}

t.test('progress and results of unknown attempts, and of attempts of other workers', async (t) => {
  const { server, liar, honest, stream, start } = await begin(t)
  const forged = { executeResponse: { result: { stdoutRaw: Buffer.from('forged') } } }
  for (const attemptId of ['nothing', '', '\0', 'x'.repeat(100_000), start.attemptId]) {
    honest.send({ progress: { attemptId, stage: ProgressStage.RUNNING } })
    t.equal(await honest.next('kill'), attemptId, 'it is told to kill an attempt that is not its own')
    for (const outcome of [forged, { workerError: { code: Code.INTERNAL } }, { refused: { code: Code.UNAVAILABLE } }]) {
      honest.report({ ...start, attemptId }, outcome)
      t.equal(await honest.next('resultAck'), attemptId)
    }
  }
  liar.send({ progress: { attemptId: start.attemptId, stage: 1_000_000 } })
  liar.send({ progress: { attemptId: start.attemptId, stage: -1 } })
  liar.succeed(start, { stdoutRaw: Buffer.from('true') })
  t.equal(
    (await outcomeOf({ stream })).result?.stdoutRaw.toString(),
    'true',
    'only the result of the right worker counts',
  )
  liar.succeed(start, { stdoutRaw: Buffer.from('once more') })
  // The scheduler prefers the worker that has been idle longest.
  await serves(t, server, honest)
})

t.test('a worker with the id of another, but without its key, gets a new id and none of its attempts', async (t) => {
  const { server, liar: victim, stream, start } = await begin(t)
  for (const workerKey of ['', 'guessed']) {
    const impostor = await server.worker({ workerId: victim.id, workerKey, attemptIds: [start.attemptId] })
    t.not(impostor.id, victim.id)
    t.equal(await impostor.next('kill'), start.attemptId)
    impostor.succeed(start, { stdoutRaw: Buffer.from('forged') })
    t.equal(await impostor.next('resultAck'), start.attemptId)
  }
  victim.succeed(start, { stdoutRaw: Buffer.from('true') })
  t.equal((await outcomeOf({ stream })).result?.stdoutRaw.toString(), 'true')
})

t.test('an invalid result counts as a failure of its worker, and is neither shown nor cached', async (t) => {
  const digest = { hash: 'a'.repeat(64), sizeBytes: 3 }
  for (const [lie, reason] of [
    [{ outputFiles: [{ path: 'out' }] }, /output_files\[0\]\.digest/],
    [{ outputFiles: [{ path: 'out', digest: { hash: 'short', sizeBytes: 1 } }] }, /output_files\[0\]\.digest/],
    [{ outputFiles: [{ path: 'out', digest: { ...digest, sizeBytes: -1 } }] }, /output_files\[0\]\.digest/],
    [{ stdoutDigest: { hash: '../../etc/passwd', sizeBytes: 1 } }, /stdout_digest/],
    [{ outputDirectories: [{ path: 'out' }] }, /neither tree_digest nor root_directory_digest/],
    [{ outputFiles: [{ path: '/etc/passwd', digest }] }, /expected a relative path/],
    [{ outputFiles: [{ path: '../out', digest }] }, /expected a path inside the input root/],
    [{ outputSymlinks: [{ path: 'a/../../out', target: 'x' }] }, /expected "\.\." only at its beginning/],
    [{ outputFiles: [{ path: 'a\0b', digest }] }, /expected no NUL byte/],
  ] as [Result, RegExp][]) {
    const { server, liar, honest, built, stream, start } = await begin(t)
    liar.succeed(start, lie)
    const again = await honest.start()
    t.equal(again.operationName, start.operationName, `${reason}: the action is retried on another worker`)
    t.ok(
      server.logged.some((line) => reason.test(line)),
      'the log has the reason',
    )
    honest.succeed(again, { stdoutRaw: Buffer.from('true') })
    t.equal((await outcomeOf({ stream })).result?.stdoutRaw.toString(), 'true')
    const kept = await server.client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest) }).response
    t.equal(kept.stdoutRaw.toString(), 'true')
  }
})

t.test('a result with outputs that are not in the CAS is a cache miss', async (t) => {
  const { server, liar, built, stream, start } = await begin(t)
  liar.succeed(start, { outputFiles: [{ path: 'out', digest: { hash: 'a'.repeat(64), sizeBytes: 3 } }] })
  await outcomeOf({ stream })
  const { response } = server.client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest) })
  t.match(await failure(response), { code: 'NOT_FOUND' })
})

t.test('bytes that are no valid message end the connection, and another worker runs the action', async (t) => {
  for (const [title, bytes, code] of [
    ['garbage', Buffer.alloc(1000, 0xff), /INTERNAL|INVALID_ARGUMENT/],
    ['cut short', Buffer.from([0x22, 0x7f, 0x0a]), /INTERNAL|INVALID_ARGUMENT/],
    ['an attempt_id that is not UTF-8', Buffer.from([0x22, 0x03, 0x0a, 0x01, 0xff]), /INVALID_ARGUMENT/],
    ['more than the maximum message size', Buffer.alloc(17 * MIB), /RESOURCE_EXHAUSTED/],
  ] as const) {
    const { server, liar, honest, stream, start } = await begin(t)
    const ended = failure(liar.messages.rest())
    liar.stream.write(bytes as unknown as Input<'remexec.worker.v1.WorkerMessage'>)
    t.match((await ended).code, code, title)
    const [again] = await Promise.all([honest.start(), pass(server, honest, 8)])
    t.equal(again.operationName, start.operationName, `${title}: another worker runs the action`)
    honest.succeed(again)
    t.match(await outcomeOf({ stream }), { status: null })
    await serves(t, server, honest)
  }
})

t.test('a field of the wrong type affects no attempt', async (t) => {
  const { liar, stream, start } = await begin(t)
  // A Result (field 4) whose attempt_id (field 1) is a number.
  const bytes: unknown = Buffer.from([0x22, 0x02, 0x08, 0x07])
  liar.stream.write(bytes as Input<'remexec.worker.v1.WorkerMessage'>)
  t.not(await liar.next('resultAck'), start.attemptId)
  liar.succeed(start)
  t.match(await outcomeOf({ stream }), { status: null })
})

t.test('a Hello that exceeds the limits is refused', async (t) => {
  const server = await serveExecution(t)
  const ids = Array.from({ length: 10_001 }, (_, index) => `${index}`)
  for (const [hello, reason] of [
    [{ attemptIds: ids }, /10001 attempt_ids/],
    [{ attempts: ids.map((attemptId) => ({ attemptId })) }, /10001 attempts/],
    [{ workerId: 'x'.repeat(201) }, /worker_id/],
    [{ name: '\u0007' }, /name/],
  ] as const) {
    const stream = server.connect().bidi(`${WORKER_API}/Connect`)
    const ended = failure(new Reader(stream).rest())
    stream.write({ hello: { protocolVersion: 1, name: 'w', ...hello } })
    t.match(await ended, { code: 'INVALID_ARGUMENT', message: reason })
  }
  await serves(t, server, await server.worker({ attemptIds: ids.slice(1) }))
})
