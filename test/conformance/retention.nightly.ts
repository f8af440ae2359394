import { join } from 'node:path'
import t, { type Test } from 'tap'
import { conformance } from './program.js'
import { startServer } from './server.js'

// The rows that fill the store, against this server with a small one. Mutations show that each of them can fail.
// For changes in: conformance, src/store/index

t.setTimeout(120_000)

const ROWS = ['FMB-08', 'FMB-14', 'ACG-04', 'ACG-14', 'ACG-15']

const serverWith = (cas: string): string => `{
  stores: [
    { name: 'CAS', memory: { ${cas} } },
    { name: 'AC', memory: { eviction_policy: { max_bytes: '2mb' } } },
  ],
  servers: [{
    name: 'public',
    listener: { http: { socket_address: '127.0.0.1:0' } },
    services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], bytestream: [{ cas_store: 'CAS' }] },
  }],
}`

const small = "eviction_policy: { max_bytes: '2mb' }"
const configs = t.testdir({
  large: serverWith("eviction_policy: { max_bytes: '64mb' }"),
  refuse: serverWith(`${small}, when_full: 'refuse'`),
  break: serverWith(`${small}, when_full: 'break'`),
  nothing: serverWith(`${small}, retention: 0`),
})

/** The verdict on each row, of a server with one of these stores. */
const judged = async (t: Test, config: string, ...args: readonly string[]): Promise<readonly string[]> => {
  const address = await startServer(t, 'remexec', join(configs, config))
  const { stdout } = await conformance(address, '--only', ROWS.join(), '--quiet', '--format', 'json', ...args)
  const { results } = JSON.parse(stdout) as { results: { id: string; verdict: string; reason: string }[] }
  return results.map(({ id, verdict, reason }) => `${id} ${verdict}: ${reason}`)
}

t.test('rows that fill the store', async (t) => {
  const size = ['--store-size', '2mb']
  const all = (reason: RegExp) => ROWS.map((id) => new RegExp(`^${id} ${reason.source}`))

  t.test('are skipped if nobody says what it holds', async (t) => {
    t.match(await judged(t, 'nothing'), all(/skip: needs --store-size/))
  })
  t.test('are skipped if it holds much more', async (t) => {
    t.match(await judged(t, 'large', ...size), all(/skip: the server takes 6 MB and evicts nothing/))
  })
  t.test('pass if uploads without room are refused', async (t) => {
    t.match(await judged(t, 'refuse', ...size), all(/pass: refused \d+ of \d+ other uploads/))
  })
  t.test('pass if the oldest promise to no live build is broken', async (t) => {
    t.match(await judged(t, 'break', ...size), all(/pass: evicted \d+ of 32/))
  })
  t.test('see a store that promises nothing', async (t) => {
    t.match(await judged(t, 'nothing', ...size), [
      /^FMB-08 pass/,
      /^FMB-14 warn: .* 8 gone: a found blob$/,
      /^ACG-04 pass/,
      /^ACG-14 warn: .* 5 gone: an output file, a Tree, stdout, stderr$/,
      /^ACG-15 warn: .* 4 gone: a file in the root of a Tree, a file in a subdirectory of a Tree$/,
    ])
  })
})
