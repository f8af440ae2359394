import t from 'tap'
import { Admin } from '../../src/admin/admin.js'
import { unpack } from '../../src/proto/any.js'
import { codec, type Output } from '../../src/proto/codec.js'
import { buildAction, metadataCodec, OPERATIONS, Reader, serveExecution } from './execution-harness.js'

const progressCodec = codec('remexec.scheduler.v1.OperationProgress')

const progressOf = ({ metadata }: Output<'google.longrunning.Operation'>) => {
  const { partialExecutionMetadata } = unpack(metadataCodec, metadata ?? { typeUrl: '', value: Buffer.alloc(0) })
  const [told] = partialExecutionMetadata?.auxiliaryMetadata ?? []
  if (told === undefined) return undefined
  // Defaults are no properties of the message's own.
  const { waitsFor, queuePosition, queueLength, attempt, worker, attemptStartTimestamp } = unpack(progressCodec, told)
  return { waitsFor, queuePosition, queueLength, attempt, worker, attemptStartTimestamp, at: partialExecutionMetadata }
}

t.test('an operation that waits says why, and where it is once it runs', async (t) => {
  const settings = { supportedPlatformProperties: new Map([['cpu', 'minimum'] as const]) }
  const server = await serveExecution(t, { settings })
  const actionOf = async (text: string, cpu: string) => {
    const platform = { properties: [{ name: 'cpu', value: cpu }] }
    return server.upload(buildAction({ command: { arguments: [text] }, action: { platform } }))
  }
  const begin = async (text: string, cpu: string) => new Reader(server.execute(await actionOf(text, cpu))).next()
  const get = async (name: string) =>
    progressOf(await server.client.unary(`${OPERATIONS}/GetOperation`, { name }).response)

  const first = await begin('a', '2')
  t.match(
    progressOf(first),
    { waitsFor: /no worker can run it: .*no worker is connected/, attempt: 0 },
    'in the stream',
  )
  const worker = await server.worker({ properties: [{ name: 'cpu', values: ['3'] }], maxInflightAttempts: 2 })
  const start = await worker.start()
  t.match(await get(first.name), { waitsFor: '', worker: worker.id, attempt: 1, at: { worker: '' } })
  t.ok((await get(first.name))?.attemptStartTimestamp !== null)

  const [second, third] = [await begin('b', '2'), await begin('c', '2')]
  const waiting = await get(third.name)
  t.match(waiting, { queuePosition: 1, queueLength: 2 })
  t.match(waiting?.waitsFor, new RegExp(`${worker.id} has 1 of 3 cpu left, it needs 2; 1 others wait, 1 of them`))
  const { operations } = await server.client.unary(`${OPERATIONS}/ListOperations`, { name: 'operations' }).response
  t.equal(progressOf(operations.find(({ name }: { name: string }) => name === second.name))?.queuePosition, 0)
  worker.succeed(start)
  t.match(await new Reader(server.wait(second.name)).next(), { done: false })
})

t.test('admin: workers and queue, drain and undrain, cancel', async (t) => {
  const server = await serveExecution(t)
  const admin = new Admin()
  admin.schedulers = new Map([['MAIN', server.host]])
  const pages = admin.pages('/admin')
  const ask = async (method: string, target: string) => {
    const page = pages.get(target.replace(/\?.*/, ''))
    if (page?.methods.includes(method) !== true) return { status: 405, content: undefined }
    const { status, body } = await page(new AbortController().signal, { method, target })
    return { status, content: JSON.parse(body) }
  }
  const worker = await server.worker({ maxInflightAttempts: 1 })
  const begin = async (text: string) =>
    new Reader(server.execute(await server.upload(buildAction({ command: { arguments: [text] } })))).next()
  const first = await begin('a')
  const start = await worker.start()
  const second = await begin('b')
  const drain = `/admin/drain?scheduler=MAIN&worker=${worker.id}`
  t.same(await ask('PUT', drain), { status: 200, content: { worker: worker.id, isDrained: true } })
  worker.succeed(start)
  t.equal((await worker.next('resultAck')).length > 0, true)
  const { content } = await ask('GET', '/admin')
  t.match(content, {
    schedulers: {
      MAIN: {
        workers: [{ id: worker.id, state: 'draining', running: 0, places: 1, attempts: [] }],
        queued: 1,
        queue: [{ operation: second.name, waitsFor: /no worker can run it/ }],
      },
    },
  })
  t.equal((await ask('DELETE', drain)).status, 200)
  t.equal((await worker.start()).operationName, second.name, 'it takes what waits')
  t.equal((await ask('DELETE', drain)).status, 404, 'it was not drained')
  t.match(await ask('GET', '/admin'), { content: { schedulers: { MAIN: { workers: [{ running: 1 }] } } } })
  t.equal((await ask('DELETE', `/admin/operation?name=${second.name}`)).status, 200)
  t.equal(await worker.next('kill'), `${second.name.split('/').at(-1)}-1`)
  for (const [method, target, status] of [
    ['PUT', '/admin/drain?scheduler=MAIN', 400],
    ['PUT', '/admin/drain?scheduler=X&worker=y', 404],
    ['PUT', '/admin/drain?scheduler=MAIN&worker=y', 404],
    ['DELETE', '/admin/operation?name=operations/x', 404],
    ['GET', '/admin/drain', 405],
    ['DELETE', '/admin', 405],
  ] as const) {
    t.equal((await ask(method, target)).status, status, `${method} ${target}`)
  }
  t.ok(first.name)
})
