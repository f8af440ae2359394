/** Every page has its JSON at the same address, in the form that docs/pages.schema.json describes. */
import t from 'tap'
import { bazel, progress } from '../builds/harness.js'
import { CAS, wire } from '../service/harness.js'
import { Uploader } from './actions/fixture.js'
import { startPages } from './harness.js'
import { events, profile, stderr } from './hostile.js'
import { check } from './schema.js'

t.test('each page has JSON by .json and by accept, which its schema allows', async (t) => {
  const { client, get } = await startPages(t, {
    invocations: [{ id: 'one', events: [...events, progress('\u001b[31mred\u001b[0m \u202e end\n')] }],
    services: { admin: {} },
  })
  await client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [stderr, profile].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response
  const uploader = new Uploader(client, 'main')
  const asked = { toolInvocationId: 'two', targetId: '//:a', actionMnemonic: 'Genrule' }
  const first = await uploader.action({ arguments: ['a'], outputPaths: ['a'] }, { dir: { file: 'x' } })
  const second = await uploader.action({ arguments: ['b'], outputPaths: ['a'] }, { dir: { file: 'y' } })
  for (const action of [first, second]) await uploader.ask(action, asked)
  await uploader.write(second, { exitCode: 0, stdoutRaw: Buffer.from('said\n') }, asked)
  const tree = await uploader.tree({ dir: { file: 'x' } })
  const key = ({ hash, sizeBytes }: { hash: string; sizeBytes: number }) => `${hash}-${sizeBytes}`
  const blob = (kind: string, digest: { hash: string; sizeBytes: number }) => `main/blobs/sha256/${kind}/${key(digest)}`
  const pages = {
    builds: 'builds',
    build: 'invocation/one',
    targets: 'invocation/one/targets',
    artifacts: 'invocation/one/artifacts',
    tests: 'invocation/one/tests',
    log: 'invocation/one/log',
    timing: 'invocation/one/timing',
    cache: 'invocation/two/cache',
    misses: 'invocation/two/misses',
    command_lines: 'invocation/one/command',
    action: blob('action', second),
    directory: blob('directory', tree),
    short_link: `a/${first.hash.slice(0, 12)}`,
    miss: `miss?instance=main&action=${key(first)}`,
    comparison: `compare/${key(first)}..${key(second)}?instance=main`,
    queue: 'queue',
    workers: 'workers',
    stores: 'stores',
    scopes: 'scopes',
    sizes: 'sizes',
    server: 'server',
    test_history: 'tests',
    trends: 'trends?by=branch',
  }
  for (const [name, address] of Object.entries(pages)) {
    const [path = '', query = ''] = address.split('?')
    const named = await get(`/${path}.json${query === '' ? '' : `?${query}`}`)
    t.equal(named.answer.status, 200, `${address}: ${named.text.slice(0, 300)}`)
    t.match(named.answer.headers.get('content-type'), 'application/json', address)
    t.equal(named.answer.headers.get('x-content-type-options'), 'nosniff')
    const value = JSON.parse(named.text)
    t.equal(check(name)(value), undefined, `${name}: ${named.text.slice(0, 600)}`)
    t.notMatch(JSON.stringify(value), /[\u202a-\u202e\u2066-\u2069]|\\u001b|super-secret|other-secret/, name)
    const byAccept = await get(`/${address}`, { accept: 'application/json' })
    t.same(Object.keys(JSON.parse(byAccept.text)), Object.keys(value), `${name} by accept`)
    const page = await get(`/${address}`)
    t.match(page.text, name === 'short_link' ? /^$/ : '<!doctype html>', `${name} for people`)
  }
})

t.test('errors are JSON too, and a login is asked for by its status', async (t) => {
  const security = {
    identity: { tokens: [{ name: 'ann', sha256: '0'.repeat(64) }] },
    access: [{ names: ['ann'], may: ['read_ac'] }],
  }
  const { get } = await startPages(t, { security, invocations: [{ id: 'one', events: [bazel({ started: {} })] }] })
  for (const [path, status] of [
    ['/invocation/one.json', 401],
    ['/invocation/none.json', 401],
    ['/nowhere.json', 404],
    ['/server.json', 401],
  ] as const) {
    const { answer, text } = await get(path)
    t.equal(answer.status, status, path)
    t.equal(check('error')(JSON.parse(text)), undefined, path)
    t.notMatch(text, /html/)
  }
})

t.test('a file whose name ends with .json is the file', async (t) => {
  const { client, get } = await startPages(t)
  const digest = await new Uploader(client, 'main').blob('{"a":1}')
  const { answer, text } = await get(`/main/blobs/sha256/file/${digest.hash}-${digest.sizeBytes}/x.json`)
  t.match(answer.headers.get('content-type'), 'application/octet-stream')
  t.equal(text, '{"a":1}')
})
