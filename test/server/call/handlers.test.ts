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
