import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import type { Input } from '../../src/proto/codec.js'
import { ProgressStage } from '../../src/proto/generated/remexec.worker.v1.js'
import { ACKNOWLEDGE_WITHIN_MS } from '../../src/service/worker-api/stream-link.js'
import { during, until } from '../until.js'
import { buildAction, FakeWorker, Reader, responseOf, serveExecution } from './execution-harness.js'
import { failure, wire } from './harness.js'

const fail = (): never => {
  throw new Error('nothing came')
}

t.test('a missing or invalid Hello ends the stream with a reason', async (t) => {
  const server = await serveExecution(t, {
    settings: { supportedPlatformProperties: new Map([['cpu', 'minimum'] as const]) },
  })
  const hello = (parts: Input<'remexec.worker.v1.Hello'>) => ({ hello: { protocolVersion: 1, name: 'w', ...parts } })
  const cases: [string, Input<'remexec.worker.v1.WorkerMessage'>, string, RegExp][] = [
    ['another version', hello({ protocolVersion: 2 }), 'FAILED_PRECONDITION', /version 2 is not supported, expected 1/],
    ['no name', hello({ name: '' }), 'INVALID_ARGUMENT', /name "" is not valid/],
    ['a control character', hello({ name: 'a\nb' }), 'INVALID_ARGUMENT', /name "a\\nb" is not valid/],
    ['a keepalive first', { keepAlive: {} }, 'INVALID_ARGUMENT', /is keepAlive, expected hello/],
    ['nothing known', {}, 'INVALID_ARGUMENT', /is an unknown message, expected hello/],
    ['a nameless property', hello({ properties: [{ values: ['x'] }] }), 'INVALID_ARGUMENT', /property without a name/],
    ['no number', hello({ properties: [{ name: 'cpu', values: ['4x'] }] }), 'INVALID_ARGUMENT', /cpu: "4x"/],
  ]
  for (const [title, message, code, reason] of cases) {
    const worker = new FakeWorker(server.connect(), server.clock)
    worker.send(message)
    t.match(await failure(worker.messages.next()), { code, message: reason }, title)
  }
  const silent = new FakeWorker(server.connect(), server.clock)
  const ended = failure(silent.messages.next())
  const late = await during(ended, () => server.clock.advance(10_000))
  t.match(late, { code: 'DEADLINE_EXCEEDED', message: /no Hello within 10 s/ }, 'silence')
  const twice = await server.worker()
  twice.send(hello({}))
  t.match(await failure(twice.messages.next()), { code: 'INVALID_ARGUMENT', message: /second hello/ })
})

const waitFor = async <T>(look: () => T, isThere: (seen: T) => boolean): Promise<void> => {
  await until(() => isThere(look()))
}

const health = async (server: Awaited<ReturnType<typeof serveExecution>>): Promise<string> =>
  (await server.host.probe.check(AbortSignal.timeout(1000))).message

t.test('a silent worker is disconnected, with the reason', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  t.match(await health(server), /1 worker connected/)
  for (let second = 0; second < 12; second++) {
    const seen = server.logged.length
    worker.send({ keepAlive: {} })
    await new Promise(setImmediate)
    await server.client.unary('google.longrunning.Operations/ListOperations', {}).response
    server.clock.advance(1_000)
    t.equal(
      server.logged.slice(seen).some((line) => line.includes('is lost')),
      false,
    )
  }
  const end = failure(worker.messages.next())
  server.clock.advance(5_250)
  t.match(await end, { code: 'UNAVAILABLE', message: /is lost: not heard of for 5 s/ })
  t.match(await server.host.probe.check(AbortSignal.timeout(1000)), {
    state: 'Warning',
    message: /0 workers connected/,
  })
})

t.test('a worker that reconnects keeps its attempts and reports later', async (t) => {
  const server = await serveExecution(t, { settings: { maxJobRetries: 0 } })
  const worker = await server.worker()
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const start = await worker.start()
  worker.stream.cancel()
  await waitFor(
    () => server.logged.join(''),
    (text) => text.includes('a worker disconnected'),
  )
  const back = await server.worker({
    workerId: worker.id,
    workerKey: worker.key,
    attemptIds: [start.attemptId, 'unheard-of-1'],
  })
  t.equal(back.id, worker.id)
  t.equal(await back.next('kill'), 'unheard-of-1')
  back.succeed(start, { stdoutRaw: Buffer.from('kept') })
  t.equal(await back.next('resultAck'), start.attemptId)
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).result?.stdoutRaw.toString(), 'kept')
  back.succeed(start)
  t.equal(await back.next('resultAck'), start.attemptId, 'a repeated result is acknowledged and forgotten')
})

t.test(
  'a worker continues an attempt of an earlier scheduler process, and its client finds the operation',
  async (t) => {
    const server = await serveExecution(t, { instances: ['', 'other'] })
    const built = await server.upload(buildAction())
    const start = { attemptId: 'x-1', operationName: 'operations/main/x', actionDigest: wire(built.digest), scope: {} }
    const hello = { workerId: 'w-before', attemptIds: ['x-1'] }
    for (const [lie, code, reason] of [
      [{ operationName: 'no operation' }, 'INVALID_ARGUMENT', /attempts: operation_name "no operation" is not valid/],
      [
        { operationName: 'other/operations/main/x' },
        'INVALID_ARGUMENT',
        /expected the name of an operation of instance ""/,
      ],
      [{ actionDigest: { hash: 'beef', sizeBytes: 3 } }, 'INVALID_ARGUMENT', /hash "beef" is not valid/],
      [{ attemptId: '\n' }, 'INVALID_ARGUMENT', /attempts: attempt_id/],
    ] as const) {
      const liar = new FakeWorker(server.connect(), server.clock)
      liar.send({ hello: { protocolVersion: 1, name: 'w', ...hello, attempts: [{ ...start, ...lie }] } })
      t.match(await failure(liar.messages.next()), { code, message: reason })
    }
    const elsewhere = await server.worker({
      ...{ attemptIds: ['y-1'], workerId: 'v-before' },
      attempts: [{ ...start, attemptId: 'y-1', operationName: 'operations/other/x' }],
    })
    t.equal(await elsewhere.next('kill'), 'y-1', 'an operation of another scheduler')
    elsewhere.stream.cancel()

    const worker = await server.worker({ ...hello, attempts: [start] })
    t.equal(worker.id, 'w-before')
    const stream = new Reader(server.wait('operations/main/x'))
    t.match(await stream.next(), { name: 'operations/main/x', done: false })
    const joined = new Reader(server.execute(built))
    t.match(await joined.next(), { done: false })
    worker.send({ result: { attemptId: 'x-1', executeResponse: { result: { stdoutRaw: Buffer.from('kept') } } } })
    t.equal(await worker.next('resultAck'), 'x-1')
    for (const reader of [stream, joined])
      t.equal(responseOf((await reader.rest()).at(-1) ?? fail()).result?.stdoutRaw.toString(), 'kept')
    const [cached] = await new Reader(server.execute(built)).rest()
    t.equal(responseOf(cached ?? fail()).cachedResult, true, 'its result is cached')
  },
)

t.test('a second connection of one worker replaces the first', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const end = failure(worker.messages.next())
  const back = await server.worker({ workerId: worker.id, workerKey: worker.key })
  t.match(await end, { code: 'ABORTED', message: /connected again/ })
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  back.succeed(await back.start())
  t.equal((await stream.rest()).at(-1)?.done, true)
})

t.test('an attempt that a reconnecting worker does not report is retried', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const start = await worker.start()
  const back = await server.worker({ workerId: worker.id, workerKey: worker.key })
  const again = await back.start()
  t.not(again.attemptId, start.attemptId)
  t.equal(again.operationName, start.operationName)
  back.succeed(again)
  await stream.rest()
})

t.test('broken results count as failures of the worker', async (t) => {
  const server = await serveExecution(t, { settings: { maxJobRetries: 2 } })
  const worker = await server.worker()
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  worker.report(await worker.start(), {})
  worker.report(await worker.start(), { executeResponse: {} })
  worker.report(await worker.start(), { executeResponse: { status: { code: Code.OK } } })
  const { status } = responseOf((await stream.rest()).at(-1) ?? fail())
  t.match({ ...status }, { code: Code.INTERNAL, message: /status OK without a result/ })
})

t.test('results that arrive together are acknowledged in one message', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const starts = []
  const streams = []
  for (const salt of ['1', '2', '3']) {
    const action = buildAction({ action: { salt: Buffer.from(salt) } })
    streams.push(new Reader(server.execute(await server.upload(action))))
    starts.push(await worker.start())
  }
  for (const start of starts) worker.succeed(start)
  for (const stream of streams) await stream.rest()
  server.clock.advance(ACKNOWLEDGE_WITHIN_MS)
  const { resultAck } = await worker.messages.until((message) => message.resultAck !== null)
  t.same(
    resultAck?.attemptIds,
    starts.map(({ attemptId }) => attemptId),
  )
})

t.test('a refused attempt does not count as a retry, and the worker gets a pause', async (t) => {
  const server = await serveExecution(t, { settings: { maxJobRetries: 0 } })
  const worker = await server.worker()
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const refusing = { refused: { code: Code.RESOURCE_EXHAUSTED, message: 'full' } }
  const start = await worker.start()
  worker.report(start, refusing)
  t.equal(await worker.next('resultAck'), start.attemptId)
  t.match(await health(server), /0 attempts running, 1 action queued/)
  server.clock.advance(1_000)
  worker.succeed(await worker.start())
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK)
})

t.test(
  'slots: an attempt that uploads outputs frees its slot; a worker that is going away gets no attempts',
  async (t) => {
    const server = await serveExecution(t)
    const worker = await server.worker({ maxInflightAttempts: 1 })
    const run = async (salt: string) =>
      new Reader(server.execute(await server.upload(buildAction({ action: { salt: Buffer.from(salt) } }))))
    const streams = [await run('1'), await run('2'), await run('3')]
    const first = await worker.start()
    for (const stage of [ProgressStage.FETCHING_INPUTS, ProgressStage.RUNNING, ProgressStage.UPLOADING_OUTPUTS]) {
      worker.send({ progress: { attemptId: first.attemptId, stage } })
    }
    const second = await worker.start()
    worker.send({ goingAway: {} })
    worker.succeed(first)
    worker.succeed(second)
    await worker.next('resultAck')
    await worker.next('resultAck')
    t.match(await health(server), /0 attempts running, 1 action queued/)
    const other = await server.worker()
    other.succeed(await other.start())
    await Promise.all(streams.map((stream) => stream.rest()))
  },
)

t.test('a draining scheduler notifies its workers, a stopping one its clients', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const stream = new Reader(server.execute(await server.upload(buildAction())))
  const start = await worker.start()
  server.host.drain()
  await worker.messages.until((message) => message.drain !== null)
  worker.succeed(start)
  t.equal((await stream.rest()).at(-1)?.done, true, 'a running attempt may finish')
  const waiting = new Reader(server.execute(await server.upload(buildAction({ action: { salt: Buffer.from('2') } }))))
  t.equal(responseOf((await waiting.rest()).at(-1) ?? fail()).status?.code, Code.UNAVAILABLE)
  const end = failure(worker.messages.rest())
  server.host.close()
  t.match(await end, { code: 'UNAVAILABLE', message: /has stopped/ })
})
