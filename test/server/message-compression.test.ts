import { once } from 'node:events'
import { connect } from 'node:http2'
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { Service } from '../../src/rpc/rpc.js'
import { type Listener, type ListenOptions, listen } from '../../src/server/listener.js'
import { drawnBytes } from '../drawn.js'

const BYTE_STREAM = 'google.bytestream.ByteStream'
const readRequest = codec(`google.bytestream.ReadRequest`)
const readResponse = codec(`google.bytestream.ReadResponse`)

const text = Buffer.alloc(10_000, 'text ')
const noise = drawnBytes(10_000)

/** Answers a Read with text, with noise, with text that must not be compressed, and with a short text. */
const service: Service = {
  name: BYTE_STREAM,
  serverStreaming: {
    Read: async (_, call, responses) => {
      const answer = (data: Buffer): Promise<void> =>
        new Promise((resolve) => responses.write({ data }, () => resolve()))
      await answer(text)
      await answer(noise)
      call.compressesResponses = false
      await answer(text)
      call.compressesResponses = true
      await answer(Buffer.from('little'))
    },
  },
  unary: {
    QueryWriteStatus: async (request, call) => ({ committedSize: call.cameCompressed(request) ? 1 : 0 }),
  },
}

const serving = async (t: Test, options: Partial<ListenOptions> = {}): Promise<Listener> => {
  const listener = await listen({ address: '127.0.0.1:0', services: [service], ...options })
  t.teardown(() => listener.close(0))
  return listener
}

interface Heard {
  readonly headers: Readonly<Record<string, unknown>>
  readonly trailers: Readonly<Record<string, unknown>>
  readonly messages: readonly { readonly isCompressed: boolean; readonly bytes: Buffer }[]
}

const framed = (bytes: Buffer, isCompressed: boolean): Buffer => {
  const head = Buffer.alloc(5)
  head[0] = isCompressed ? 1 : 0
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** The messages of one call on the wire. */
const call = async (
  { address }: Listener,
  method: string,
  message: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<Heard> => {
  const session = connect(`http://${address}`)
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${BYTE_STREAM}/${method}`,
    te: 'trailers',
    'content-type': 'application/grpc',
    ...headers,
  })
  let [first, last]: Readonly<Record<string, unknown>>[] = [{}, {}]
  const chunks: Buffer[] = []
  stream.on('response', (received) => {
    first = received
  })
  stream.on('trailers', (received) => {
    last = received
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.end(message)
  await once(stream, 'close')
  session.close()
  const messages: { isCompressed: boolean; bytes: Buffer }[] = []
  for (let rest = Buffer.concat(chunks); rest.length > 0; ) {
    const end = 5 + rest.readUInt32BE(1)
    messages.push({ isCompressed: rest[0] === 1, bytes: rest.subarray(5, end) })
    rest = rest.subarray(end)
  }
  return { headers: first ?? {}, trailers: last ?? {}, messages }
}

const read = (listener: Listener, headers: Readonly<Record<string, string>>): Promise<Heard> =>
  call(listener, 'Read', framed(readRequest.encode({ resourceName: 'x' }), false), headers)

const sendsGzip = { compression: { sendsGzip: true, accepted: [] } }

t.test('responses use gzip if the client accepts it and they get smaller', async (t) => {
  const { headers, trailers, messages } = await read(await serving(t, sendsGzip), {
    'grpc-accept-encoding': 'deflate,gzip',
  })
  t.equal(headers['grpc-encoding'], 'gzip')
  t.equal(trailers['grpc-status'], '0')
  t.same(
    messages.map(({ isCompressed }) => isCompressed),
    [true, false, false, false],
  )
  t.ok((messages[0]?.bytes.length ?? Infinity) < 1000)
  const plain = messages.map(
    ({ isCompressed, bytes }) => readResponse.decode(isCompressed ? gunzipSync(bytes) : bytes).data,
  )
  t.same(plain, [text, noise, text, Buffer.from('little')])
})

t.test('responses are not compressed for other clients, or without configuration', async (t) => {
  const asking = { 'grpc-accept-encoding': 'identity,gzip' }
  for (const [options, headers] of [
    [sendsGzip, {}],
    [sendsGzip, { 'grpc-accept-encoding': 'deflate' }],
    [{}, asking],
  ] as const) {
    const heard = await read(await serving(t, options), headers)
    t.notOk('grpc-encoding' in heard.headers)
    t.same(
      heard.messages.map(({ isCompressed }) => isCompressed),
      [false, false, false, false],
    )
  }
})

t.test('requests may use only the accepted compressions', async (t) => {
  const request = Buffer.alloc(1000)
  const packed = { gzip: gzipSync(request), deflate: deflateSync(request) }
  const ask = async (listener: Listener, encoding: 'gzip' | 'deflate'): Promise<Heard> =>
    call(listener, 'QueryWriteStatus', framed(packed[encoding], true), { 'grpc-encoding': encoding })
  const usual = await serving(t)
  const onlyGzip = await serving(t, { compression: { sendsGzip: false, accepted: ['gzip'] } })
  const none = await serving(t, { compression: { sendsGzip: false, accepted: [] } })
  for (const [listener, encoding] of [
    [usual, 'gzip'],
    [usual, 'deflate'],
    [onlyGzip, 'gzip'],
  ] as const) {
    const { code } = outcomeOf(await ask(listener, encoding))
    // The bytes are not a request, so an error of the decoder shows that they were decompressed.
    t.equal(code, '3', encoding)
  }
  for (const [listener, encoding, accepted] of [
    [onlyGzip, 'deflate', 'identity,gzip'],
    [none, 'gzip', 'identity'],
  ] as const) {
    const { code, message, told } = outcomeOf(await ask(listener, encoding))
    t.match([code, message, told], ['12', new RegExp(`"${encoding}" is not supported`), accepted])
  }
})

const outcomeOf = ({ headers, trailers }: Heard) => ({
  code: headers['grpc-status'] ?? trailers['grpc-status'],
  message: decodeURIComponent(String(headers['grpc-message'] ?? trailers['grpc-message'])),
  told: headers['grpc-accept-encoding'],
})

t.test('a handler sees whether a message was compressed', async (t) => {
  const listener = await serving(t)
  const query = codec('google.bytestream.QueryWriteStatusRequest').encode({ resourceName: 'x'.repeat(100) })
  const status = codec('google.bytestream.QueryWriteStatusResponse')
  for (const isCompressed of [true, false]) {
    const message = framed(isCompressed ? gzipSync(query) : query, isCompressed)
    const { messages } = await call(listener, 'QueryWriteStatus', message, { 'grpc-encoding': 'gzip' })
    t.equal(status.decode(messages[0]?.bytes ?? Buffer.alloc(0)).committedSize, isCompressed ? 1 : 0)
  }
})

t.test('settings that grpc-js does not support are refused before the listener starts', async (t) => {
  for (const compression of [
    { sendsGzip: true, accepted: ['gzip', 'deflate'] },
    { sendsGzip: false, accepted: ['gzip'] },
  ] as const) {
    const message = /grpc-js does not compress responses/
    await t.rejects(listen({ address: '127.0.0.1:0', services: [], transport: 'grpc-js', compression }), { message })
  }
})
