import { join } from 'node:path'
import t from 'tap'
import { certificate } from '../certificate.js'
import { cases } from './cases.js'
import { runClient, TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

// For changes in: src/server

const client = process.env['REMEXEC_TEST_GRPC_GO']
const options = { skip: client === undefined ? 'needs grpc-go: .ci/bring builds it' : false, timeout: TIMEOUT_MS }

// It has no cases of compression.
for (const transport of transports) {
  for (const isTls of [false, true]) {
    t.test(`the interoperability client of grpc-go over ${transport}${isTls ? ' and TLS' : ''}`, options, async (t) => {
      const folder = t.testdir()
      const port = await serveTests(t, transport, isTls ? certificate(folder) : undefined)
      const server = [`-server_host=${isTls ? 'localhost' : '127.0.0.1'}`, `-server_port=${port}`]
      const tls = isTls ? ['-use_tls', '-use_test_ca', `-ca_file=${join(folder, 'cert.pem')}`] : []
      for (const name of cases) await runClient(t, name, client ?? '', [...server, ...tls, `-test_case=${name}`])
    })
  }
}
