import { once } from 'node:events'
import { Client, credentials, Server, ServerCredentials, ServerInterceptingCall } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { Encoded } from '../../src/proto/codec.js'
import { MessageSender } from '../../src/server/message-sender.js'

const asItIs = (bytes: Buffer): Buffer => bytes

/** What a client gets of these messages, sent over a real call. */
const received = async (t: Test, messages: readonly Encoded[]): Promise<Buffer[]> => {
  const server = new Server({
    interceptors: [
      (_, wire) =>
        new ServerInterceptingCall(wire, {
          start: () =>
            wire.start({
              onReceiveMetadata: () => {
                const sender = new MessageSender(wire)
                const sendFrom = (index: number): void => {
                  const message = messages[index]
                  if (message === undefined) wire.sendStatus({ code: 0, details: '' })
                  else sender.send(message, () => sendFrom(index + 1))
                }
                sendFrom(0)
              },
              onReceiveMessage: () => {},
              onReceiveHalfClose: () => {},
              onCancel: () => {},
            }),
        }),
    ],
  })
  server.register('/a.B/C', () => {}, asItIs, asItIs, 'serverStream')
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  t.teardown(() => {
    client.close()
    server.forceShutdown()
  })
  const stream = client.makeServerStreamRequest('/a.B/C', asItIs, asItIs, Buffer.alloc(0))
  const found: Buffer[] = []
  stream.on('data', (message: Buffer) => found.push(message))
  await once(stream, 'end')
  return found
}

const inParts = (...sizes: readonly number[]): Encoded => ({
  byteLength: sizes.reduce((sum, size) => sum + size, 0),
  parts: sizes.map((size, index) => Buffer.alloc(size, index + 1)),
  copy: () => {
    throw new Error('the message was copied')
  },
})

t.test('a large message in parts is sent without a copy', async (t) => {
  const sizes = [
    [2, 100_000],
    [1, 2, 30_000],
    [300_000, 0],
  ]
  const found = await received(t, [Buffer.from('first'), ...sizes.map((some) => inParts(...some)), Buffer.from('last')])
  const expected = sizes.map((some) => Buffer.concat(some.map((size, index) => Buffer.alloc(size, index + 1))))
  t.equal(found.length, 5)
  t.ok(Buffer.concat(found).equals(Buffer.concat([Buffer.from('first'), ...expected, Buffer.from('last')])))
})

t.test('should grpc-js hide its stream, it sends everything itself', (t) => {
  const sent: unknown[] = []
  const wire = {
    start: () => {},
    sendMetadata: () => {},
    sendMessage: (message: unknown, callback: () => void) => {
      sent.push(message)
      callback()
    },
    sendStatus: () => {},
    startRead: () => {},
    getPeer: () => '',
    getDeadline: () => Number.POSITIVE_INFINITY,
    getHost: () => '',
    getAuthContext: () => ({}),
    getConnectionInfo: () => ({}),
    getMetricsRecorder: () => {
      throw new Error('no metrics')
    },
  }
  const message = inParts(2, 100_000)
  new MessageSender(wire).send(message, () => {
    t.same(sent, [message])
    t.end()
  })
})
