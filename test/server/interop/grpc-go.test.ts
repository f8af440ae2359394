import { spawn } from 'node:child_process'
import t from 'tap'
import { listen } from '../../../src/server/listener.js'
import { testService } from './test-service.js'

const client = process.env['REMEXEC_TEST_GRPC_GO']

/**
 * Cases of gRPC's interoperability tests. Left out: custom_metadata, because no handler here sends metadata, and
 * special_status_message, because control characters in a message become spaces before they leave.
 */
const cases = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'unimplemented_method',
  'unimplemented_service',
]

for (const transport of ['remexec', 'grpc-js'] as const) {
  const options = { skip: client === undefined ? 'needs grpc-go: .ci/run builds it' : false, timeout: 120_000 }
  t.test(`the interoperability client of grpc-go over ${transport}`, options, async (t) => {
    const listener = await listen({ address: '127.0.0.1:0', services: [testService], transport })
    t.teardown(() => listener.close(0))
    const port = listener.address.split(':').at(-1)
    for (const name of cases) {
      const child = spawn(client ?? '', ['-server_host=127.0.0.1', `-server_port=${port}`, `-test_case=${name}`])
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
      const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
      t.equal(code, 0, `${name} ${code === 0 ? '' : said.slice(-500)}`)
    }
  })
}
