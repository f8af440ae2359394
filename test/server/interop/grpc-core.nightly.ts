import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { cases } from './cases.js'
import { testCompression } from './compression.js'
import { runCases, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

// For changes in: src/server

const python = process.env['REMEXEC_TEST_GRPC_CORE']
const options = { skip: python === undefined ? 'needs grpcio: .ci/bring brings it' : false, timeout: TIMEOUT_MS }
const program = fileURLToPath(new URL('python/cases.py', import.meta.url))
const protos = fileURLToPath(new URL('../../../fixtures/test', import.meta.url))

const run = (t: Test, names: readonly string[], port: number): Promise<void> =>
  runCases(t, names, python ?? '', [program, protos, `127.0.0.1:${port}`])

for (const transport of transports) {
  t.test(`the interoperability cases with the client of C core over ${transport}`, options, async (t) => {
    const port = await serveTests(t, transport)
    await run(t, cases, port)
  })
}

testCompression('the client of C core', options, run)
