import { once } from 'node:events'
import { type ClientHttp2Stream, connect, constants, createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type Mutation, onEnding } from '../../../conformance/mutate/mutation.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { frame } from '../../../conformance/wire/bare-call.js'
import { read } from '../../../conformance/wire/methods.js'
import { until } from '../../until.js'

const PATH = '/google.bytestream.ByteStream/Read'
const FIRST = frame(Buffer.alloc(0))

/** Takes calls apart and changes nothing, so that the other way through the proxy is tested too. */
const opened: Mutation = { name: 'opened', breaks: 'Nothing.', caughtBy: [], tamper: () => onEnding(read, () => {}) }

/** A server that does what `serve` does with each call, behind a proxy; gives an open call. */
const callThrough = async (
  t: Test,
  mutation: Mutation | undefined,
  serve: (stream: ServerHttp2Stream) => void,
): Promise<ClientHttp2Stream> => {
  const server = createServer()
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    serve(stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await MutatingProxy.listen(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`, mutation)
  const session = connect(proxy.address.replace('grpc:', 'http:'))
  t.teardown(async () => {
    session.destroy()
    await proxy.close()
    server.close()
  })
  const call = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' })
  call.on('error', () => {})
  return call
}

/** Resolves however the stream ends. */
const closed = (stream: ClientHttp2Stream | ServerHttp2Stream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed && stream.destroyed) resolve()
    else stream.once('close', () => resolve())
  })

const respond = (stream: ServerHttp2Stream, trailers: Record<string, string>): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
}

for (const [how, mutation] of [
  ['as bytes', undefined],
  ['taken apart', opened],
] as const) {
  t.test(`calls pass ${how}`, async (t) => {
    t.test('status, message and details come as they were sent', async (t) => {
      const trailers = {
        'grpc-status': '9',
        'grpc-message': '100%25 sure',
        'grpc-status-details-bin': Buffer.from([8, 9]).toString('base64'),
      }
      const call = await callThrough(t, mutation, (stream) => {
        respond(stream, trailers)
        stream.resume().once('end', () => stream.end())
      })
      call.end(FIRST)
      call.resume()
      const [came] = await once(call, 'trailers')
      for (const [name, value] of Object.entries(trailers))
        t.equal(decodeURIComponent(came[name]), decodeURIComponent(value), name)
      await closed(call)
      t.equal(call.rstCode, constants.NGHTTP2_NO_ERROR)
    })

    t.test('a cancellation reaches the server', async (t) => {
      let served: ServerHttp2Stream | undefined
      const call = await callThrough(t, mutation, (stream) => {
        served = stream
        stream.once('data', () => call.close(constants.NGHTTP2_CANCEL))
      })
      call.write(FIRST)
      await closed(call)
      if (served === undefined) throw new Error('the call did not reach the server')
      await closed(served)
      t.equal(served.rstCode, constants.NGHTTP2_CANCEL)
    })

    t.test('a broken call is broken for the client', async (t) => {
      const call = await callThrough(t, mutation, (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM))
      call.end(FIRST)
      await closed(call)
      t.equal(call.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    })

    t.test('an early end reaches a client that is still sending', async (t) => {
      const call = await callThrough(t, mutation, (stream) => {
        respond(stream, { 'grpc-status': '0' })
        stream.once('data', () => stream.end(FIRST))
      })
      call.write(FIRST)
      call.resume()
      const [trailers] = await once(call, 'trailers')
      t.equal(trailers['grpc-status'], '0')
    })

    t.test('a client that does not read stalls the server', async (t) => {
      const message = frame(Buffer.alloc(64 << 10))
      let sentBytes = 0
      const call = await callThrough(t, mutation, (stream) => {
        respond(stream, { 'grpc-status': '0' })
        const fill = (): void => {
          while (sentBytes < 64 << 20) {
            sentBytes += message.length
            if (!stream.write(message)) return
          }
          stream.end()
        }
        stream.on('drain', fill)
        fill()
      })
      call.end(FIRST)
      await once(call, 'response')
      let before = -1
      // Flow control has closed when round trips bring no more.
      await until(async () => {
        before = sentBytes
        for (let trip = 0; trip < 20; trip++) await new Promise((resolve) => call.session?.ping(resolve))
        return before === sentBytes
      }, 'a closed window')
      t.ok(sentBytes < 16 << 20, `${sentBytes} bytes on their way`)
      let receivedBytes = 0
      for await (const chunk of call) receivedBytes += (chunk as Buffer).length
      t.equal(receivedBytes, sentBytes, 'all of it comes when the client reads')
    })
  })
}
