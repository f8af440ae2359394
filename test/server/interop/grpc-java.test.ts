import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cases, clientCompressed, serverCompressed } from './cases.js'
import { runCases, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

const jars = process.env['REMEXEC_TEST_GRPC_JAVA']
const options = { skip: jars === undefined ? 'needs grpc-java: .ci/run brings it' : false, timeout: TIMEOUT_MS }
const program = fileURLToPath(new URL('java/Cases.java', import.meta.url))

for (const transport of transports) {
  // Each is an HTTP/2 of its own. grpc-js does not tell whether a message came compressed, and compresses none.
  for (const engine of ['netty', 'okhttp']) {
    t.test(`the interoperability client of grpc-java on ${engine} over ${transport}`, options, async (t) => {
      const port = await serveTests(t, transport)
      const compressed = transport === 'remexec' ? [...clientCompressed, ...serverCompressed] : []
      const args = ['-cp', `${jars}/*`, program, '127.0.0.1', String(port), engine]
      await runCases(t, [...cases, ...compressed], 'java', args)
    })
  }
}
