import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { cases } from './cases.js'
import { testCompression } from './compression.js'
import { runCases, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

// For changes in: src/server

const jars = process.env['REMEXEC_TEST_GRPC_JAVA']
const options = { skip: jars === undefined ? 'needs grpc-java: .ci/bring brings it' : false, timeout: TIMEOUT_MS }
const program = fileURLToPath(new URL('java/Cases.java', import.meta.url))

const runOn =
  (engine: string) =>
  (t: Test, names: readonly string[], port: number): Promise<void> =>
    runCases(t, names, 'java', ['-cp', `${jars}/*`, program, '127.0.0.1', String(port), engine])

// Each engine has its own HTTP/2.
for (const engine of ['netty', 'okhttp']) {
  for (const transport of transports) {
    t.test(`the interoperability client of grpc-java on ${engine} over ${transport}`, options, async (t) => {
      await runOn(engine)(t, cases, await serveTests(t, transport))
    })
  }
  testCompression(`grpc-java on ${engine}`, options, runOn(engine))
}
