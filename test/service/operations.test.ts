import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import type { Output } from '../../src/proto/codec.js'
import { durationOf } from '../../src/proto/time.js'
import {
  buildAction,
  type ExecutionServer,
  ExecutionStage,
  OPERATIONS,
  Reader,
  responseOf,
  serveExecution,
  stageOf,
} from './execution-harness.js'
import { failure } from './harness.js'

const call = (server: ExecutionServer, method: string, request: object) =>
  server.client.unary(`${OPERATIONS}/${method}`, request).response

const begin = async (server: ExecutionServer, salt = '') => {
  const built = await server.upload(buildAction({ action: { salt: Buffer.from(salt) } }))
  const stream = new Reader(server.execute(built))
  const operation = await stream.until((one) => stageOf(one) !== ExecutionStage.CACHE_CHECK)
  return { stream, name: operation.name }
}

t.test('OPS-01: GetOperation shows the same operation', async (t) => {
  const server = await serveExecution(t)
  const { stream, name } = await begin(server)
  const queued = await call(server, 'GetOperation', { name })
  t.equal(queued.name, name)
  t.equal(stageOf(queued), ExecutionStage.QUEUED)
  t.equal(queued.done, false)
  const worker = await server.worker()
  worker.succeed(await worker.start(), { exitCode: 7 })
  await stream.rest()
  const done = await call(server, 'GetOperation', { name })
  t.equal(done.done, true)
  t.equal(responseOf(done).result?.exitCode, 7)
  for (const method of ['GetOperation', 'CancelOperation', 'DeleteOperation', 'WaitOperation']) {
    for (const unknown of ['operations/gone', 'nope', '']) {
      t.equal((await failure(call(server, method, { name: unknown }))).code, 'NOT_FOUND', `${method} ${unknown}`)
    }
  }
})

t.test('OPS-02: CancelOperation stops the run and ends the stream with CANCELLED', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const { stream, name } = await begin(server)
  const start = await worker.start()
  await call(server, 'CancelOperation', { name })
  const last = (await stream.rest()).at(-1)
  t.equal(last?.done, true)
  t.equal(responseOf(last ?? fail()).status?.code, Code.CANCELLED)
  t.equal(await worker.next('kill'), start.attemptId, 'the worker is told to kill the attempt')
  worker.report(start, { executeResponse: { status: { code: Code.CANCELLED } } })
  worker.report(start, { workerError: { code: Code.ABORTED, message: 'killed' } })
  t.equal(await worker.next('resultAck'), start.attemptId)
  await call(server, 'CancelOperation', { name })
  t.equal(responseOf(await call(server, 'GetOperation', { name })).status?.code, Code.CANCELLED, 'twice is fine')

  const queued = await begin(server, 'queued')
  worker.send({ goingAway: {} })
  await call(server, 'CancelOperation', { name: queued.name })
  t.equal(responseOf((await queued.stream.rest()).at(-1) ?? fail()).status?.code, Code.CANCELLED)
})

const fail = (): never => {
  throw new Error('nothing came')
}

t.test('cancelling a shared run ends it for one client only', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const [one, two] = [await begin(server), await begin(server)]
  const start = await worker.start()
  await call(server, 'CancelOperation', { name: one.name })
  t.equal(responseOf((await one.stream.rest()).at(-1) ?? fail()).status?.code, Code.CANCELLED)
  worker.succeed(start)
  t.equal(responseOf((await two.stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK)
})

t.test('OPS-03: DeleteOperation', async (t) => {
  const server = await serveExecution(t)
  const worker = await server.worker()
  const { stream, name } = await begin(server)
  const start = await worker.start()
  await call(server, 'DeleteOperation', { name })
  t.equal((await failure(new Reader(server.wait(name)).rest())).code, 'NOT_FOUND')
  t.equal((await failure(call(server, 'GetOperation', { name }))).code, 'NOT_FOUND')
  worker.succeed(start)
  t.equal(responseOf((await stream.rest()).at(-1) ?? fail()).status?.code ?? 0, Code.OK, 'deleting does not cancel')
  const done = await begin(server, 'done')
  worker.succeed(await worker.start())
  await done.stream.rest()
  await call(server, 'DeleteOperation', { name: done.name })
  t.equal((await failure(call(server, 'GetOperation', { name: done.name }))).code, 'NOT_FOUND')
})

t.test('OPS-04: ListOperations pages through one instance', async (t) => {
  const server = await serveExecution(t, { instances: ['', 'other'] })
  const names: string[] = []
  for (let index = 0; index < 7; index++) names.push((await begin(server, `${index}`)).name)
  const pages: string[][] = []
  for (let pageToken: string | undefined = ''; pageToken !== undefined && pages.length < 10; ) {
    const page: Output<'google.longrunning.ListOperationsResponse'> = await call(server, 'ListOperations', {
      pageSize: 3,
      pageToken,
    })
    pages.push(page.operations.map(({ name }) => name))
    pageToken = page.nextPageToken || undefined
    if (pages.length === 1) await call(server, 'DeleteOperation', { name: names[2] })
  }
  t.same(pages, [names.slice(0, 3), names.slice(3, 6), names.slice(6)])
  t.same((await call(server, 'ListOperations', { name: 'other' })).operations, [])
  t.equal((await call(server, 'ListOperations', { name: 'operations' })).operations.length, 6)
  for (const bad of [{ pageSize: -1 }, { pageToken: '!!' }, { filter: 'done=true' }, { name: 'nope' }]) {
    t.equal((await failure(call(server, 'ListOperations', bad))).code, 'INVALID_ARGUMENT', JSON.stringify(bad))
  }
})

t.test('OPS-04: WaitOperation', async (t) => {
  const server = await serveExecution(t)
  const { name } = await begin(server)
  const early = await call(server, 'WaitOperation', { name, timeout: durationOf(1) })
  t.equal(early.done, false, 'the state when the timeout expires')
  const waiting = call(server, 'WaitOperation', { name })
  const worker = await server.worker()
  worker.succeed(await worker.start())
  t.equal((await waiting).done, true)
  const negative = call(server, 'WaitOperation', { name, timeout: durationOf(-1000) })
  t.equal((await failure(negative)).code, 'INVALID_ARGUMENT')
})
