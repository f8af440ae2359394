import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { offeredProtocols } from '../../../src/server/threads/client-hello.js'
import { placeOfPlain, placeOverTls } from '../../../src/server/threads/openings.js'
import { until } from '../../until.js'

/** What a client that offers these protocols says first. */
const helloOf = async (t: Test, ALPNProtocols: string[] | undefined, options: object = {}): Promise<Buffer> => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = connect({ port, host: '127.0.0.1', ...(ALPNProtocols && { ALPNProtocols }), ...options })
  client.on('error', () => {})
  const [socket] = await accepted
  t.teardown(() => {
    socket.destroy()
    client.destroy()
    server.close()
  })
  let head = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
  })
  await until(() => offeredProtocols(head) !== undefined)
  return head
}

/** The same hello in records of few bytes (RFC 8446, 5.1). */
const inRecords = (hello: Buffer, sizeBytes: number): Buffer => {
  const message = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += sizeBytes) {
    const part = message.subarray(at, at + sizeBytes)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

t.test('what a TLS client offers is in its first bytes', async (t) => {
  for (const offered of [['h2'], ['http/1.1'], ['h2', 'http/1.1'], ['grpc-exp', 'h2']])
    t.same(offeredProtocols(await helloOf(t, offered)), offered)
  t.same(offeredProtocols(await helloOf(t, undefined)), [], 'a client without ALPN')
  t.same(offeredProtocols(await helloOf(t, ['h2'], { maxVersion: 'TLSv1.2', servername: 'localhost' })), ['h2'])
})

t.test('a hello in pieces, and in many records', async (t) => {
  const hello = await helloOf(t, ['h2'])
  for (const whole of [hello, inRecords(hello, 7), inRecords(hello, 1)]) {
    for (let length = 0; length < whole.length; length++)
      if (offeredProtocols(whole.subarray(0, length)) !== undefined) t.fail(`${length} of ${whole.length} bytes`)
    t.same(offeredProtocols(whole), ['h2'])
    t.same(offeredProtocols(Buffer.concat([whole, Buffer.from('more')])), ['h2'])
  }
})

t.test('bytes that are no hello, or a broken one, offer nothing', async (t) => {
  const hello = await helloOf(t, ['h2'])
  const broken = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(hello)
    change(bytes)
    return bytes
  }
  t.same(offeredProtocols(Buffer.from('GET / HTTP/1.1\r\n\r\n')), [])
  t.same(offeredProtocols(broken((bytes) => bytes.writeUInt8(2, 5))), [], 'another message of the handshake')
  t.same(offeredProtocols(broken((bytes) => bytes.writeUInt8(255, 5 + 4 + 34))), [], 'a session id behind its end')
  // Whatever is damaged: an answer, and never an error.
  for (let at = 9; at < hello.length; at++)
    for (const value of [0, 255]) t.ok(Array.isArray(offeredProtocols(broken((bytes) => bytes.writeUInt8(value, at)))))
})

t.test('threads get what looks like gRPC', async (t) => {
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  t.equal(placeOfPlain(preface), 'threads')
  t.equal(placeOfPlain(Buffer.concat([preface, Buffer.alloc(9)])), 'threads')
  for (const length of [0, 1, 23]) t.equal(placeOfPlain(preface.subarray(0, length)), undefined)
  t.equal(placeOfPlain(Buffer.from('PUT /cas/')), 'owner')
  t.equal(placeOfPlain(Buffer.from('PRI * HTTP/1')), 'owner')
  t.equal(placeOverTls(await helloOf(t, ['h2'])), 'threads')
  t.equal(placeOverTls(await helloOf(t, ['h2', 'http/1.1'])), 'owner', 'a browser, and a tool with HTTP of both')
  t.equal(placeOverTls(await helloOf(t, undefined)), 'owner')
  t.equal(placeOverTls(preface), 'owner')
})
