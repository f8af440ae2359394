import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { TestClient } from '../../server/client.js'
import { untilSo } from '../../until.js'
import { bodyOf, KIB, MIB, SIZES, serveCaches, streamed } from './harness.js'

const CAS = 'build.bazel.remote.execution.v2.ContentAddressableStorage'
const memory = { memory: { eviction_policy: { max_bytes: '200mb' } } }
const MAIN = { instance_name: 'main' }

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))

for (const [name, cas] of [
  ['a file store', undefined],
  ['a memory store', memory],
] as const) {
  t.test(`what was put is got back, over ${name}`, async (t) => {
    const { ask } = await serveCaches(t, { '/c': { kind: 'opaque', ...MAIN } }, cas && { cas })
    for (const sizeBytes of SIZES) {
      for (const isStream of [false, true]) {
        const body = bodyOf(sizeBytes)
        const path = `/c/${sizeBytes}/${isStream}`
        t.equal((await ask('GET', path)).status, 404)
        t.match(await ask('PUT', path, { body: isStream ? streamed(body) : body }), { status: 200, text: '' })
        const told = await ask('GET', path)
        t.equal(told.status, 200)
        t.ok(told.body.equals(body), path)
        t.equal(told.headers['content-length'], String(sizeBytes))
        const head = await ask('HEAD', path)
        t.match([head.status, head.headers['content-length'], head.text], [200, String(sizeBytes), ''])
      }
    }
    const body = bodyOf(10)
    await ask('PUT', '/c/4096/true', { body })
    t.ok((await ask('GET', '/c/4096/true')).body.equals(body), 'the last upload stays')
    t.equal((await ask('DELETE', '/c/4096/true')).status, 204)
    t.equal((await ask('GET', '/c/4096/true')).status, 404)
  })
}

t.test('bodies are blobs of the CAS, stored once, and caches of two paths never meet', async (t) => {
  const { ask, grpc, folder } = await serveCaches(t, [
    { path: '/one', kind: 'opaque', ...MAIN },
    { path: '/two', kind: 'opaque', ...MAIN },
    { path: '/two/inner', kind: 'opaque', ...MAIN },
  ])
  const body = bodyOf(MIB)
  await ask('PUT', '/one/k', { body })
  await ask('PUT', '/two/k2', { body })
  t.equal((await ask('GET', '/two/k')).status, 404)
  t.equal((await ask('GET', '/two/inner/k2')).status, 404)
  t.equal((await ask('GET', '/two/k2')).status, 200)
  const client = new TestClient(grpc)
  t.teardown(() => client.close())
  const digest = { hash: createHash('sha256').update(body).digest('hex'), sizeBytes: MIB }
  const find = { instanceName: 'main', blobDigests: [digest] }
  t.same((await client.unary(`${CAS}/FindMissingBlobs`, find).response).missingBlobDigests, [])
  t.equal(filesBelow(join(folder, 'cas')).filter((name) => name.includes(digest.hash.slice(0, 8))).length, 1)
})

t.test('an upload that breaks leaves nothing', async (t) => {
  const { ask, folder } = await serveCaches(t, { '/c': { kind: 'opaque', ...MAIN } })
  const [blobs, uploads] = [join(folder, 'cas'), join(folder, 'temp')]
  const before = filesBelow(blobs)
  const breaksOnceWritten = async function* (): AsyncGenerator<Buffer> {
    yield bodyOf(4 * MIB)
    await untilSo(async () => readdirSync(uploads).some((name) => statSync(join(uploads, name)).size >= MIB))
    throw new Error('the sender breaks')
  }
  await t.rejects(ask('PUT', '/c/k', { body: Readable.from(breaksOnceWritten()) }), { message: 'the sender breaks' })
  t.equal((await ask('GET', '/c/k')).status, 404)
  // The server hears of the end later than its client.
  await untilSo(async () => filesBelow(uploads).length === 0)
  t.same(filesBelow(blobs), before)
  t.equal((await ask('GET', '/c/k')).status, 404)
})

t.test('an entry whose body has gone is a miss', async (t) => {
  const cas = { memory: { eviction_policy: { max_bytes: '2mb' } } }
  const { ask } = await serveCaches(t, { '/c': { kind: 'opaque', ...MAIN } }, { cas })
  await ask('PUT', '/c/old', { body: bodyOf(MIB) })
  t.equal((await ask('GET', '/c/old')).status, 200)
  for (const at of [1, 2, 3]) await ask('PUT', `/c/new${at}`, { body: bodyOf(900 * KIB) })
  t.equal((await ask('GET', '/c/old')).status, 404)
})

t.test('max_size, overwrite and read_only', async (t) => {
  const { ask } = await serveCaches(t, [
    { path: '/small', kind: 'opaque', max_size: '1kb', ...MAIN },
    { path: '/first', kind: 'opaque', overwrite: 'first', ...MAIN },
    { path: '/never', kind: 'opaque', read_only: true, ...MAIN },
    { path: '/nx', kind: 'nx', overwrite: 'first', max_size: '1kb', ...MAIN },
  ])
  for (const body of [bodyOf(2000), streamed(bodyOf(2000))])
    t.match(await ask('PUT', '/small/k', { body }), { status: 413, text: /longer than 1000 bytes/ })
  t.equal((await ask('PUT', '/first/k', { body: 'one' })).status, 200)
  t.equal((await ask('PUT', '/first/k', { body: 'two' })).status, 200)
  t.equal((await ask('GET', '/first/k')).text, 'one')
  t.match(await ask('PUT', '/never/k', { body: 'x' }), { status: 403, text: /read-only/ })
  t.equal((await ask('PUT', '/nx/v1/cache/17', { body: 'one' })).status, 200)
  t.equal((await ask('PUT', '/nx/v1/cache/17', { body: 'two' })).status, 409)
  t.equal((await ask('PUT', '/nx/v1/cache/18', { body: bodyOf(2000) })).status, 409, 'Nx ends with an error after 413')
  t.equal((await ask('GET', '/nx/v1/cache/17')).text, 'one')
})

t.test('a store that fails does not fail the builds of tools that end after an error', async (t) => {
  const cas = { grpc: { instance_name: 'main', endpoints: [{ address: 'grpc://127.0.0.1:9' }], store_type: 'cas' } }
  const { ask, said } = await serveCaches(
    t,
    [
      { path: '/nx', kind: 'nx', ...MAIN },
      { path: '/go', kind: 'go', max_size: '1mb', ...MAIN },
      { path: '/c', kind: 'opaque', ...MAIN },
    ],
    { cas },
  )
  const body = bodyOf(10_000)
  const go = (bytes: Buffer): string => `/go/${'0'.repeat(64)}/${createHash('sha256').update(bytes).digest('hex')}`
  t.equal((await ask('PUT', '/c/k', { body })).status, 503)
  t.equal((await ask('PUT', '/nx/v1/cache/1', { body })).status, 409)
  t.equal((await ask('PUT', go(body), { body })).status, 204, 'the helper of go fails the build after any other answer')
  t.equal(said.text.match(/an upload was not stored/g)?.length, 2)
  const large = bodyOf(2_000_000)
  t.equal((await ask('PUT', go(large), { body: large })).status, 204)
  t.equal(
    (await ask('PUT', `/go/${'0'.repeat(64)}/${'0'.repeat(64)}`, { body })).status,
    400,
    'a body with another hash',
  )
  for (const path of ['/c/k', '/nx/v1/cache/1', `/go/action/${'0'.repeat(64)}`])
    t.equal((await ask('GET', path)).status, 404, path)
})

t.test('the metrics have how long requests take, by route, method and status, whatever clients ask', async (t) => {
  const { ask } = await serveCaches(t, { '/c': { kind: 'opaque', ...MAIN } }, { services: { metrics: {} } })
  await ask('PUT', '/c/k', { body: 'one' })
  for (const key of ['k', 'k', 'none']) await ask('GET', `/c/${key}`)
  for (const method of ['LOCK', 'UNLOCK']) t.equal((await ask(method, '/c/k')).status, 405)
  await ask('GET', '/nowhere')
  const { text } = await ask('GET', '/metrics')
  const counts = [...text.matchAll(/^svc_http_duration_count\{(.*)\} (\d+)$/gm)].map(([, labels = '', count]) => {
    const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1]
    return [of('http_route'), of('http_method'), of('http_status'), count].join(' ')
  })
  t.same(counts.sort(), ['/c GET 200 2', '/c GET 404 1', '/c PUT 200 1', '/c other 405 2'])
})

t.test('paths that are no keys are refused, and nothing is stored', async (t) => {
  const { ask } = await serveCaches(t, [
    { path: '/o', kind: 'opaque', ...MAIN },
    { path: '/ccache', kind: 'ccache', ...MAIN },
    { path: '/gradle', kind: 'gradle', ...MAIN },
    { path: '/nx', kind: 'nx', ...MAIN },
    { path: '/turbo', kind: 'turborepo', ...MAIN },
    { path: '/sccache', kind: 'webdav', ...MAIN },
    { path: '/go', kind: 'go', ...MAIN },
    { path: '/maven', kind: 'maven', ...MAIN },
  ])
  const hex = 'a'.repeat(64)
  const wrong = [
    ...[
      '/o',
      '/o/',
      '/o//',
      '/o/a%2Fb',
      '/o/a%5cb',
      '/o/%00',
      '/o/%zz',
      '/o/%2e%2e',
      '/o/a/%2E/b',
      `/o/${'a/'.repeat(20)}b`,
    ],
    ...[`/ccache/${'g'.repeat(40)}`, `/ccache/${hex}`, '/ccache/64/xyz', `/ccache/ac/${hex.slice(1)}b`],
    ...['/gradle/xyz', `/gradle/${hex}/b`, '/nx/v1/cache/abc', '/nx/v2/cache/1', '/nx/v1/cache/1/2'],
    ...['/turbo/v8/artifacts/xyz', `/turbo/v8/artifacts/${hex}?slug=a%00b`],
    ...['/sccache', '/sccache/a%00b', `/go/${hex}`, `/go/${hex}/abc`, `/go/action/${hex}/x`, '/maven/v1/x'],
  ]
  for (const path of wrong) {
    for (const method of ['GET', 'PUT']) {
      const told = await ask(method, path, method === 'PUT' ? { body: 'x' } : {})
      t.match([told.status, told.text], [400, /./], `${method} ${path}`)
    }
  }
  t.equal((await ask('POST', '/o/k', { body: 'x' })).status, 405)
  t.equal((await ask('GET', '/nowhere')).status, 404)
})

t.test('each tool gets what its client expects', async (t) => {
  const { ask } = await serveCaches(t, [
    { path: '/ccache', kind: 'ccache', ...MAIN },
    { path: '/gradle', kind: 'gradle', ...MAIN },
    { path: '/turbo', kind: 'turborepo', ...MAIN },
    { path: '/sccache', kind: 'webdav', ...MAIN },
    { path: '/go', kind: 'go', ...MAIN },
    { path: '/maven', kind: 'maven', ...MAIN },
  ])
  const key = '64bd58c3d7e0a1b2c3d4e5f60718293a4b5c6d7e'
  await ask('PUT', `/ccache/64/${key.slice(2)}`, { body: 'object' })
  t.equal((await ask('GET', `/ccache/${key}`)).text, 'object', 'layouts share entries')
  t.equal((await ask('GET', `/ccache/ac/${key}${key.slice(0, 24)}`)).text, 'object')
  t.equal((await ask('PUT', '/ccache/59/65q7h2vv0123456789abcdefghijk01', { body: 'old' })).status, 200)

  const hash = '0123456789abcdef'
  const sent = { 'x-artifact-tag': 'dGFn', 'x-artifact-duration': '1234', 'x-artifact-sha': 'abc' }
  t.same(JSON.parse((await ask('PUT', `/turbo/v8/artifacts/${hash}?slug=t`, { body: 'tar', headers: sent })).text), {
    urls: [],
  })
  const artifact = await ask('GET', `/turbo/v8/artifacts/${hash}?slug=t`)
  for (const [name, value] of Object.entries(sent)) t.equal(artifact.headers[name], value)
  t.equal((await ask('GET', `/turbo/v8/artifacts/${hash}?teamId=t`)).status, 404, 'a slug is no team id')
  t.equal((await ask('GET', `/turbo/v8/artifacts/${hash}`)).status, 404)
  t.same(JSON.parse((await ask('GET', '/turbo/v8/artifacts/status')).text), { status: 'enabled' })
  t.same(JSON.parse((await ask('POST', '/turbo/v8/artifacts/events?slug=t', { body: '[{"event":"HIT"}]' })).text), {})
  t.equal((await ask('POST', '/turbo/v8/artifacts/events?slug=t', { body: '[{"event"' })).status, 400)
  const query = { body: JSON.stringify({ hashes: [hash, 'ffffffffffffffff'] }) }
  t.same(JSON.parse((await ask('POST', '/turbo/v8/artifacts?slug=t', query)).text), {
    [hash]: { size: 3, taskDurationMs: 1234, tag: 'dGFn' },
    ffffffffffffffff: null,
  })
  const preflight = await ask('OPTIONS', `/turbo/v8/artifacts/${hash}`, {
    headers: { 'access-control-request-headers': 'Authorization, x-artifact-tag' },
  })
  t.match(preflight.headers['access-control-allow-headers'], /Authorization.*x-artifact-tag/)

  t.equal((await ask('PROPFIND', '/sccache/a/b/')).status, 207)
  t.match((await ask('PROPFIND', '/sccache/a')).text, /<D:collection\/>/)
  t.equal((await ask('MKCOL', '/sccache/a/b')).status, 201)
  t.equal((await ask('PUT', '/sccache/a/b/c/k', { body: 'zip' })).status, 200)
  t.match((await ask('PROPFIND', '/sccache/a/b/c/k')).text, /<D:getcontentlength>3</)
  t.equal((await ask('GET', '/sccache/a/b/c/k')).text, 'zip')

  const [action, output] = ['a'.repeat(64), '']
  const outputId = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  t.match(await ask('PUT', `/go/${action}/${action}`, { body: output }), { status: 400, text: /has the SHA-256 e3b0/ })
  t.equal((await ask('PUT', `/go/${action}/${outputId}`, { body: output })).status, 204)
  t.same(JSON.parse((await ask('GET', `/go/action/${action}`)).text), { outputID: outputId, size: 0 })
  t.equal((await ask('GET', `/go/output/${outputId}`)).status, 200)
  const both = await ask('GET', `/go/action/${action}`, { headers: { 'want-object': '1' } })
  t.match([both.headers['go-output-id'], both.text], [outputId, ''])

  const maven = '/maven/v1.1/org.example/lib/0123456789abcdef/buildinfo.xml'
  t.equal((await ask('PUT', maven, { body: '<xml/>' })).status, 200)
  t.equal((await ask('GET', maven)).text, '<xml/>')
  t.equal((await ask('PUT', `/gradle/${'ab'.repeat(16)}`, { body: 'gz' })).status, 200)
  t.match((await ask('GET', `/gradle/${'ab'.repeat(16)}`)).headers['content-type'], /gradle.build-cache/)
})
