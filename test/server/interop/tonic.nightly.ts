import t, { type Test } from 'tap'
import { cases } from './cases.js'
import { testCompression } from './compression.js'
import { runCases, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

// For changes in: src/server

const client = process.env['REMEXEC_TEST_TONIC']
const options = { skip: client === undefined ? 'needs tonic: .ci/bring builds it' : false, timeout: TIMEOUT_MS }

const run = (t: Test, names: readonly string[], port: number): Promise<void> =>
  runCases(t, names, client ?? '', [`127.0.0.1:${port}`])

for (const transport of transports) {
  t.test(`the interoperability cases with the client of tonic over ${transport}`, options, async (t) => {
    const port = await serveTests(t, transport)
    await run(t, cases, port)
  })
}

testCompression('the client of tonic', options, run)
