import { Metadata, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import type { ServedCall, Unary } from '../../src/rpc/rpc.js'
import { listen, type TransportName } from '../../src/server/listener.js'
import { TestClient } from './client.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const GET = `${CAPABILITIES}/GetCapabilities`

const bytes = Buffer.from([0, 1, 255])
const header = new Map<string, string | Buffer>([
  ['x-header', 'a b'],
  ['x-header-bin', bytes],
])
const trailer = new Map<string, string | Buffer>([['x-trailer-bin', bytes]])

interface Answer {
  readonly headers: Metadata
  readonly trailers: Metadata
  readonly code: number
  readonly details: string
}

/** Everything that a client receives from one call that `handle` answers. */
const answerOf = async (t: Test, transport: TransportName, handle: Unary): Promise<Answer> => {
  const service = { name: CAPABILITIES, unary: { GetCapabilities: handle } }
  const listener = await listen({ address: '127.0.0.1:0', services: [service], transport })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    await listener.close(0)
  })
  return new Promise((resolve) => {
    let headers = new Metadata()
    const call = client.client.makeUnaryRequest(
      `/${GET}`,
      (bytes) => bytes,
      String,
      Buffer.alloc(0),
      () => {},
    )
    call.on('metadata', (received: Metadata) => {
      headers = received
    })
    call.on('status', ({ code, details, metadata }: ServiceError) => {
      resolve({ headers, trailers: metadata, code, details })
    })
  })
}

for (const transport of ['remexec', 'grpc-js'] as const) {
  t.test(`a handler can send metadata before and after the response,  ${transport}`, async (t) => {
    const { headers, trailers, code } = await answerOf(t, transport, async (_, call) => {
      call.setHeaders(header)
      call.setTrailers(trailer)
      return {}
    })
    t.equal(code, 0)
    t.same([headers.get('x-header'), headers.get('x-header-bin')], [['a b'], [bytes]])
    t.same(trailers.get('x-trailer-bin'), [bytes])
    t.same([headers.get('x-trailer-bin'), trailers.get('x-header')], [[], []], 'each in its place')
  })

  t.test(`a failed call can have metadata,  ${transport}`, async (t) => {
    const failing =
      (told: (call: ServedCall) => void): Unary =>
      async (_, call) => {
        told(call)
        throw new StatusError('ABORTED', 'on purpose')
      }
    const both = await answerOf(
      t,
      transport,
      failing((call) => {
        call.setHeaders(header)
        call.setTrailers(trailer)
      }),
    )
    t.match([both.code, both.details], [10, 'on purpose'])
    t.same([both.headers.get('x-header'), both.trailers.get('x-trailer-bin')], [['a b'], [bytes]])
    const one = await answerOf(
      t,
      transport,
      failing((call) => call.setTrailers(trailer)),
    )
    t.same([one.code, one.trailers.get('x-trailer-bin')], [10, [bytes]])
  })

  t.test(`a status message arrives unchanged,  ${transport}`, async (t) => {
    for (const message of ['\t\n 100% \r\n ☺ 😈 \u0000\u007f é', '%41 %', '']) {
      const { code, details } = await answerOf(t, transport, async () => {
        throw new StatusError('ABORTED', message)
      })
      t.same([code, details], [10, message])
    }
  })
}

t.test('metadata that cannot be sent fails the call, not the connection', async (t) => {
  const wrong: readonly (readonly [string, string | Buffer])[] = [
    ['Upper', 'a'],
    ['grpc-status', '0'],
    [':status', '200'],
    ['content-type', 'text/plain'],
    ['x-text', bytes],
    ['x-bin', 'text'],
    ['x-text', 'a\r\nb: c'],
  ]
  for (const field of wrong) {
    for (const where of ['setHeaders', 'setTrailers'] as const) {
      const { code } = await answerOf(t, 'remexec', async (_, call) => {
        call[where](new Map([field]))
        return {}
      })
      t.equal(code, 13, `${where} ${field[0]}`)
    }
  }
})
