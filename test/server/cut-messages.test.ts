import t from 'tap'
import { textLog } from '../../src/log/log.js'
import type { Service } from '../../src/rpc/rpc.js'
import { Flag, FrameType } from '../../src/server/http2/frame/frame.js'
import { listen } from '../../src/server/listener.js'
import { frame, message, RawClient, requestBlock } from './http2/raw-client.js'

const NAME = 'build.bazel.remote.execution.v2.Capabilities'
const service: Service = { name: NAME, unary: { GetCapabilities: async () => ({}) } }

const compressed = (bytes: Buffer): Buffer => {
  const whole = message(bytes)
  whole[0] = 1
  return whole
}

for (const [title, body, fields, reason] of [
  ['is cut short', message(Buffer.alloc(9)).subarray(0, 9), [], 'the request ended within a message'],
  ['is compressed without grpc-encoding', compressed(Buffer.from('x')), [], 'a message is marked as compressed'],
  ['is not valid gzip', compressed(Buffer.from('x')), [['grpc-encoding', 'gzip']], 'a message is not compressed'],
] as const) {
  t.test(`a message that ${title} is logged as an error of the client, without a stack trace`, async (t) => {
    const lines: string[] = []
    const log = textLog('debug', (line) => lines.push(line))
    const listener = await listen({ address: '127.0.0.1:0', services: [service], log })
    t.teardown(() => listener.close(0))
    const client = await RawClient.greeted(Number(listener.address.split(':').at(-1)))
    t.teardown(() => client.destroy())
    client.write(
      frame(FrameType.HEADERS, Flag.END_HEADERS, 1, requestBlock(`/${NAME}/GetCapabilities`, fields)),
      frame(FrameType.DATA, Flag.END_STREAM, 1, body),
    )
    const answer = await client.until(({ type }) => type === FrameType.HEADERS)
    t.equal(answer?.fields['grpc-status'], '13', 'the code that gRPC defines for it')
    t.notMatch(lines.join(''), /error| {4}at /)
    t.match(lines.join(''), new RegExp(`debug call .*code=INTERNAL.*reason="${reason}`))
  })
}
