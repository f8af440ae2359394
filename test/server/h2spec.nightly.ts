import { spawn } from 'node:child_process'
import t from 'tap'
import { listen } from '../../src/server/listener.js'
import { certificate } from './certificate.js'

// For changes in: src/server

const h2spec = process.env['REMEXEC_TEST_H2SPEC']

const run = (port: number, args: readonly string[]): Promise<{ code: number | null; said: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(h2spec ?? '', ['-h', '127.0.0.1', '-p', String(port), '--strict', '--timeout', '10', ...args])
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })

for (const kind of ['plain', 'TLS'] as const) {
  const options = { skip: h2spec === undefined ? 'needs h2spec: .ci/bring builds it' : false, timeout: 120_000 }
  t.test(`every case of h2spec passes, ${kind}`, options, async (t) => {
    const tls = kind === 'TLS' ? certificate(t.testdir()) : undefined
    const listener = await listen({ address: '127.0.0.1:0', services: [], ...(tls === undefined ? {} : { tls }) })
    t.teardown(() => listener.close(0))
    const port = Number(listener.address.split(':').at(-1))
    const { code, said } = await run(port, tls === undefined ? [] : ['-t', '-k'])
    t.equal(code, 0)
    const [, total, passed, skipped, failed] = /(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(said) ?? []
    t.ok(Number(total) >= 145, `${total} cases`)
    t.same([passed, skipped, failed], [total, '0', '0'], said.slice(-2000))
  })
}
