import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import t from 'tap'
import type { Service } from '../../../../src/rpc/rpc.js'
import { listen } from '../../../../src/server/listener.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf } from '../../blobs.js'
import { endpoint, openGrpcStore } from './remexec.js'

t.test('an upload whose source fails is cancelled at the other server', async (t) => {
  const events = new EventEmitter()
  const services: Service[] = [
    { name: 'build.bazel.remote.execution.v2.Capabilities', unary: { GetCapabilities: async () => ({}) } },
    {
      name: 'google.bytestream.ByteStream',
      clientStreaming: {
        Write: (_, { signal }) =>
          new Promise((__, reject) => {
            events.emit('begun')
            signal.addEventListener('abort', () => {
              events.emit('cancelled')
              reject(signal.reason)
            })
          }),
      },
    },
  ]
  const listener = await listen({ address: '127.0.0.1:0', services })
  t.teardown(() => listener.close(0))
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(Number(listener.address.split(':').at(-1)))] })
  const bytes = bytesOf(5_000_000)
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, 100_000)
    await once(events, 'begun')
    throw new Error('the disk broke')
  }
  const cancelled = once(events, 'cancelled')
  const source = Readable.from(broken(), { objectMode: false })
  await t.rejects(store.put(digestOf(bytes), Blob.ofPath([source]), call), { message: 'internal error' })
  await cancelled
})
