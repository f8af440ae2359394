import t from 'tap'
import { cases, clientCompressed, serverCompressed } from './cases.js'
import { runCases, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

const client = process.env['REMEXEC_TEST_TONIC']
const options = { skip: client === undefined ? 'needs tonic: .ci/run builds it' : false, timeout: TIMEOUT_MS }

for (const transport of transports) {
  t.test(`the interoperability cases with the client of tonic over ${transport}`, options, async (t) => {
    const port = await serveTests(t, transport)
    // grpc-js does not tell whether a message came compressed, and compresses none.
    const compressed = transport === 'remexec' ? [...clientCompressed, ...serverCompressed] : []
    await runCases(t, [...cases, ...compressed], client ?? '', [`127.0.0.1:${port}`])
  })
}
