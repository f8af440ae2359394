/** `remexec ls` of a running server: what its stores keep, in pages. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TestClient } from '../server/client.js'
import { AC, blobOf, CAS, wire } from '../service/harness.js'
import { program, serve, start } from './program.js'

const CONFIG = JSON.stringify({
  stores: { CAS: { fast_slow: { fast: { memory: {} }, slow: { noop: {} } } }, AC: { memory: {} } },
  servers: [
    {
      name: 'public',
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
        http_cache: { '/files': { kind: 'opaque' } },
        admin: {},
      },
    },
  ],
})

const started = async (t: Test) => {
  const config = join(t.testdir(), 'c.json')
  writeFileSync(config, CONFIG)
  const server = serve(t, config, `${config}.data`)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const ls = async (...words: readonly string[]) => {
    const running = start(t, [process.execPath, program, 'ls', ...words, '--server', `grpc://${address}`], {
      env: { PATH: process.env['PATH'] },
    })
    const { code } = await running.ended
    return { code, text: running.said() }
  }
  return { address, client, ls }
}

t.test('blobs by size, in pages that neither repeat nor skip one', async (t) => {
  const { client, ls } = await started(t)
  // Ten of each size, so that pages end between equals.
  const blobs = Array.from({ length: 30 }, (_, at) => blobOf(Buffer.from(`${at}`.padStart(100 * (1 + (at % 3)), '.'))))
  const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  const seen: string[] = []
  let after: readonly string[] = []
  for (let at = 0; at < 10; at++) {
    const page = JSON.parse((await ls('--json', '--limit', '7', ...after)).text)
    t.ok(page.blobs.length <= 7)
    for (const { key, store, storedBytes, usedAt } of page.blobs) {
      t.match({ store, usedAt }, { store: 'CAS/fast', usedAt: /Z$/ })
      seen.push(`${storedBytes} ${key}`)
    }
    if (page.next === undefined) break
    after = ['--after', page.next]
  }
  t.same(new Set(seen), new Set(blobs.map(({ digest }) => `${digest.sizeBytes} ${digest.key}`)))
  t.equal(seen.length, 30, 'each once')
  t.same(
    [...seen].map((line) => Number(line.split(' ')[0])),
    [300, 200, 100].flatMap((size) => Array(10).fill(size)),
  )

  const [first] = blobs
  const found = await ls('--hash', first?.digest.hash.slice(0, 12) ?? '')
  t.match(found, {
    code: 0,
    text: new RegExp(`^SIZE +LAST USED +STORE +KEY\n100 bytes +\\S+Z +CAS/fast +${first?.digest.key}\n$`),
  })
  t.equal(JSON.parse((await ls('--json', '--min-size', '150', '--max-size', '250')).text).blobs.length, 10)
  t.match(await ls('--unused', '1h'), { code: 0, text: 'nothing of that kind\n' })
  t.equal(JSON.parse((await ls('--json', '--used', '1h', '--order', 'oldest')).text).blobs.length, 30)
})

t.test('results and entries of HTTP caches are told apart', async (t) => {
  const { address, client, ls } = await started(t)
  const action = blobOf(Buffer.from('an action')).digest
  await client.unary(`${AC}/UpdateActionResult`, { actionDigest: wire(action), actionResult: { exitCode: 0 } }).response
  t.equal((await fetch(`http://${address}/files/name`, { method: 'PUT', body: 'content' })).ok, true)
  const results = await ls('--results')
  t.match(results.text, action.key)
  t.equal(results.text.trim().split('\n').length, 2)
  const entries = await ls('--http')
  t.notMatch(entries.text, action.key)
  t.equal(entries.text.trim().split('\n').length, 2)
})

t.test('wrong questions are answered with what was expected', async (t) => {
  const { ls } = await started(t)
  t.match(await ls('--order', 'best'), { code: 2, text: /expected largest, oldest, newest/ })
  t.match(await ls('--results', '--http'), { code: 2, text: /expected one of --results and --http/ })
  t.match(await ls('--min-size', 'lots'), { code: 2, text: /expected a form like 10mb/ })
  t.match(await ls('--largest', '3'), { code: 2, text: /for a server use --order and --limit/ })
  t.match(await ls('--after', 'x'), { code: 1, text: /after: expected what the page before says/ })
  t.match(await ls('--store', 'NONE'), { code: 1, text: /there is no store NONE to list, expected one of CAS\/fast/ })
  t.match(await ls('--hash', 'xyz'), { code: 1, text: /hex digits/ })
})
