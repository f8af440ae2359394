import t from 'tap'
import { unpack } from '../../src/proto/any.js'
import { codec, type Output } from '../../src/proto/codec.js'
import { buildAction, metadataCodec, OPERATIONS, Reader, serveExecution } from './execution-harness.js'

const progressCodec = codec('remexec.scheduler.v1.OperationProgress')

const progressOf = ({ metadata }: Output<'google.longrunning.Operation'>) => {
  const { partialExecutionMetadata } = unpack(metadataCodec, metadata ?? { typeUrl: '', value: Buffer.alloc(0) })
  const [told] = partialExecutionMetadata?.auxiliaryMetadata ?? []
  if (told === undefined) return undefined
  // Default values are on the prototype of a message, not on the message itself.
  const { waitsFor, queuePosition, queueLength, attempt, worker, ...times } = unpack(progressCodec, told)
  const { queuedTimestamp, attemptStartTimestamp } = times
  const parts = { waitsFor, queuePosition, queueLength, attempt, worker, queuedTimestamp, attemptStartTimestamp }
  return { ...parts, at: partialExecutionMetadata }
}

t.test('a queued operation reports why it waits, a running one its worker', async (t) => {
  const settings = { supportedPlatformProperties: new Map([['cpu', 'minimum'] as const]) }
  const server = await serveExecution(t, { settings })
  const actionOf = async (text: string, cpu: string) => {
    const platform = { properties: [{ name: 'cpu', value: cpu }] }
    return server.upload(buildAction({ command: { arguments: [text] }, action: { platform } }))
  }
  const begin = async (text: string, cpu: string) => new Reader(server.execute(await actionOf(text, cpu))).next()
  const operationOf = (name: string) => server.client.unary(`${OPERATIONS}/GetOperation`, { name }).response
  const get = async (name: string) => progressOf(await operationOf(name))
  const timeOf = (time: { readonly seconds: number; readonly nanos: number } | null | undefined): number =>
    time ? time.seconds * 1000 + time.nanos / 1e6 : Number.NaN

  const first = await begin('a', '2')
  const queuedMs = server.clock.now()
  t.match(
    progressOf(first),
    { waitsFor: /no worker can run it: .*no worker is connected/, attempt: 0 },
    'in the stream',
  )
  server.clock.advance(1_500)
  const worker = await server.worker({ properties: [{ name: 'cpu', values: ['3'] }], maxInflightAttempts: 2 })
  const start = await worker.start()
  t.match(await get(first.name), { waitsFor: '', worker: worker.id, attempt: 1, at: { worker: '' } })
  const running = await get(first.name)
  t.same([running?.queuedTimestamp, running?.at?.queuedTimestamp].map(timeOf), [queuedMs, queuedMs])
  t.equal(timeOf(running?.attemptStartTimestamp), queuedMs + 1_500)

  const [second, third] = [await begin('b', '2'), await begin('c', '2')]
  const waiting = await get(third.name)
  t.match(waiting, { queuePosition: 1, queueLength: 2, attemptStartTimestamp: null })
  t.equal(timeOf(waiting?.queuedTimestamp), queuedMs + 1_500)
  t.match(waiting?.waitsFor, new RegExp(`${worker.id} has 1 of 3 cpu left, it needs 2; 1 others wait, 1 of them`))
  const { operations } = await server.client.unary(`${OPERATIONS}/ListOperations`, { name: 'operations' }).response
  t.equal(progressOf(operations.find(({ name }: { name: string }) => name === second.name))?.queuePosition, 0)
  const each = await Promise.all([first, second, third].map(({ name }) => operationOf(name)))
  t.same(operations, each, 'List shows the same as Get for each operation')
  worker.succeed(start)
  t.match(await new Reader(server.wait(second.name)).next(), { done: false })
})
