import { once } from 'node:events'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import type { Service } from '../../../src/rpc/rpc.js'
import { listen } from '../../../src/server/listener.js'
import { collect, TestClient } from '../client.js'

t.test('a handler that destroys its stream and never ends gives its call that failure', async (t) => {
  const service: Service = {
    name: 'google.bytestream.ByteStream',
    serverStreaming: {
      Read: (_request, _call, responses) => {
        ;(responses as unknown as { destroy(error: Error): void }).destroy(new StatusError('DATA_LOSS', 'damaged'))
        return new Promise(() => {})
      },
    },
  }
  const listener = await listen({ address: '127.0.0.1:0', services: [service] })
  t.teardown(() => listener.close(0))
  const client = new TestClient(listener.address)
  t.teardown(() => client.close())
  const { status } = await collect(client.serverStream('google.bytestream.ByteStream/Read', { resourceName: 'x' }))
  t.match(status, { code: 15, details: 'damaged' })
})

t.test('a client that breaks off while a handler does not expect failures ends no server', async (t) => {
  let seen = (): void => {}
  const taken = new Promise<void>((resolve) => {
    seen = resolve
  })
  let left = (): void => {}
  const over = new Promise<void>((resolve) => {
    left = resolve
  })
  const service: Service = {
    name: 'google.devtools.build.v1.PublishBuildEvent',
    bidirectional: {
      PublishBuildToolEventStream: async (requests, _responses, call) => {
        ;(requests as unknown as NodeJS.ReadableStream).on('data', seen)
        await once(call.signal, 'abort')
        left()
      },
    },
  }
  const listener = await listen({ address: '127.0.0.1:0', services: [service] })
  t.teardown(() => listener.close(0))
  const client = new TestClient(listener.address)
  t.teardown(() => client.close())
  const stream = client.bidi('google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream')
  stream.on('error', () => {})
  stream.write({ orderedBuildEvent: { sequenceNumber: 1 } })
  await taken
  stream.cancel()
  await over
})
