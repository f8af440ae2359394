import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { treeRoute } from '../../../src/http/request.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { listen } from '../../../src/server/listener.js'
import type { CacheStores } from '../../../src/service/http-cache/entries.js'
import { HashSizes } from '../../../src/service/http-cache/hash-sizes.js'
import { bazel } from '../../../src/service/http-cache/kinds/bazel.js'
import { cacheKinds } from '../../../src/service/http-cache/kinds/kinds.js'
import { UNCOUNTED_CACHE } from '../../../src/service/http-cache/meter.js'
import { Mount } from '../../../src/service/http-cache/mount.js'
import { uploaded } from '../../../src/service/uploaded.js'
import { asCas } from '../../../src/store/view/cas.js'
import { asKeyed } from '../../../src/store/view/keyed.js'
import { PushedFeed } from '../../../src/stream/blob/pushed-feed.js'
import { WINDOW_BYTES } from '../../../src/stream/compression/compression.js'
import { zstdCompress } from '../../../src/stream/compression/zstd.js'
import { RawHttp1, statusesIn } from '../../server/http/raw-http1.js'
import { until } from '../../until.js'
import { memoryStore } from '../harness.js'
import { MIB, serveCaches, streamed } from './harness.js'

const HASH = 'a'.repeat(64)
/** A path for each kind, and what its clients get for an upload that cannot be stored. */
const uploads = {
  bazel: { path: `cas/${HASH}`, refused: 413 },
  ccache: { path: 'a'.repeat(40), refused: 413 },
  go: { path: `${HASH}/${HASH}`, refused: 204 },
  gradle: { path: 'a'.repeat(32), refused: 413 },
  maven: { path: 'v1/group/artifact/sum/file', refused: 413 },
  nx: { path: 'v1/cache/123', refused: 409 },
  opaque: { path: 'some/key', refused: 413 },
  turborepo: { path: `v8/artifacts/${'a'.repeat(16)}`, refused: 413 },
  webdav: { path: 'a/b/c', refused: 413 },
} as const satisfies Record<keyof typeof cacheKinds, { path: string; refused: number }>

const mounts = Object.fromEntries(Object.keys(cacheKinds).map((kind) => [`/${kind}`, { kind, instance_name: 'main' }]))
const STORE_BYTES = 20 * MIB
const policy = { eviction_policy: { max_bytes: STORE_BYTES } }
const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  )
const portOf = (address: string): number => Number(address.split(':').at(-1))

for (const store of ['filesystem', 'memory'] as const) {
  t.test(`a body that is longer than its ${store} store is refused before its first byte, by all kinds`, async (t) => {
    const folder = t.testdir()
    const paths = { content_path: join(folder, 'c'), temp_path: join(folder, 't') }
    const cas = store === 'memory' ? { memory: policy } : { filesystem: { ...paths, ...policy } }
    const { grpc } = await serveCaches(t, mounts, { cas })
    for (const [kind, { path, refused }] of Object.entries(uploads)) {
      const head = (length: number): string =>
        `PUT /${kind}/${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`
      const client = await RawHttp1.open(portOf(grpc), head(STORE_BYTES + 1))
      t.same(statusesIn(await client.closed()), [refused], kind)
      const fitting = await RawHttp1.open(portOf(grpc), head(1000))
      await fitting.until(/\r\n\r\n/)
      t.same(statusesIn(fitting.said), [100], `${kind} takes others`)
      fitting.socket.destroy()
    }
  })
}

t.test('a body of unknown length ends at the size of the store, and so do all from one address together', async (t) => {
  const folder = t.testdir()
  const temp = join(folder, 't')
  const filesystem = { content_path: join(folder, 'c'), temp_path: temp, ...policy }
  const { grpc, ask } = await serveCaches(t, mounts, { cas: { filesystem } })
  const chunk = Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), Buffer.alloc(MIB), Buffer.from('\r\n')])
  const begin = (kind: keyof typeof uploads, address?: string): Promise<RawHttp1> => {
    const head = `PUT /${kind}/${uploads[kind].path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`
    return RawHttp1.open(portOf(grpc), head, address)
  }
  for (const kind of Object.keys(uploads) as (keyof typeof uploads)[]) {
    const client = await begin(kind)
    for (let sent = 0; sent < 21 && client.said === ''; sent++) await client.sent(chunk)
    await client.until(/\r\n\r\n/)
    t.same(statusesIn(client.said), [uploads[kind].refused], kind)
    t.ok(bytesBelow(folder) <= STORE_BYTES, `${bytesBelow(folder)} bytes on disk`)
    client.socket.destroy()
  }
  // One address with as much as it may have does not stop another.
  const [one, second] = [await begin('opaque'), await begin('webdav')]
  for (let sent = 0; sent < 9; sent++) {
    await one.sent(chunk)
    await second.sent(chunk)
  }
  for (let sent = 0; sent < 8 && one.said + second.said === ''; sent++) await second.sent(chunk)
  await until(() => one.said + second.said !== '')
  t.match(one.said + second.said, /^HTTP\/1.1 507 [\s\S]*uploads in progress from the address of this client hold/)
  const other = await begin('ccache', '127.0.0.2')
  other.write(Buffer.concat([chunk, chunk, chunk, Buffer.from('0\r\n\r\n')]))
  await other.until(/\r\n\r\n/)
  t.same(statusesIn(other.said), [200])
  for (const { socket } of [one, second, other]) socket.destroy()
  // What has ended is counted no more.
  for (let again = 0; again < 30; again++) {
    const { status } = await ask('PUT', '/opaque/again', { body: streamed(Buffer.alloc(12 * MIB)) })
    if (status === 200) return
    t.equal(status, 507)
  }
  t.fail('the room was not given back')
})

t.test('a short zstd body that decodes to more than the store does not fill the disk', async (t) => {
  const folder = t.testdir()
  const filesystem = { content_path: join(folder, 'c'), temp_path: join(folder, 't'), ...policy }
  const { ask } = await serveCaches(t, mounts, { cas: { filesystem } })
  const body = zstdCompress(Buffer.alloc(64 * MIB))
  const told = await ask('PUT', `/bazel/cas/${HASH}`, { body, headers: { 'content-encoding': 'zstd' } })
  t.match(told, { status: 413, text: /larger than 20971520 bytes/ })
  t.ok(bytesBelow(folder) <= STORE_BYTES)
})

t.test('a zstd body that announces more than it may have is refused by its header alone', async (t) => {
  const { grpc } = await serveCaches(t, mounts, { cas: { memory: policy } })
  const header = zstdCompress(Buffer.alloc(STORE_BYTES + MIB)).subarray(0, 100)
  for (const [more, refused] of [
    ['x-digest-sizebytes: 1000000', 400],
    ['x-unused: 1', 413],
  ] as const) {
    const fields = `host: x\r\ncontent-encoding: zstd\r\ncontent-length: 1000\r\n${more}`
    const client = await RawHttp1.open(portOf(grpc), `PUT /bazel/cas/${HASH} HTTP/1.1\r\n${fields}\r\n\r\n`)
    client.write(header)
    await client.answered(1)
    t.same(statusesIn(client.said), [refused], more)
    t.match(client.said, refused === 400 ? /announces 22020096 bytes/ : /larger than 20971520 bytes/)
    client.socket.destroy()
  }
})

t.test('a zstd body waits for the memory of its decompressor before anything of it is decoded', async (t) => {
  const ledger = new Ledger({ windows: 4 * WINDOW_BYTES })
  const cas = asCas(await memoryStore())
  const ac = asKeyed(await memoryStore())
  const stores: CacheStores = {
    ...{ of: () => stores, parents: [] },
    ...{ instanceName: '', ac, cas, isReadOnly: false, maxBlobBytes: undefined, hasZstd: true, kept: () => undefined },
    ...{
      sizes: new HashSizes({ ac, cas, readsOlder: false }),
      readsOlder: false,
    },
  }
  const options = { path: '/b', kind: 'bazel', instance_name: '', read_only: false } as const
  const mount = new Mount({
    options: { ...options, overwrite: 'last', on_fault: 'error' },
    ...{ stores, storesOf: () => undefined, meter: UNCOUNTED_CACHE },
  })
  const routes = [treeRoute('/b', bazel.handler(mount), 'open')]
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes, ledger })
  const clients: RawHttp1[] = []
  t.teardown(async () => {
    for (const { socket } of clients) socket.destroy()
    await listener.close(0)
  })
  const half = zstdCompress(Buffer.alloc(MIB)).subarray(0, 20)
  const head = 'HTTP/1.1\r\nhost: x\r\ncontent-encoding: zstd\r\nexpect: 100-continue\r\ncontent-length: 1000\r\n\r\n'
  const hasBegun = (): number => clients.filter(({ said }) => /100 Continue/.test(said)).length
  // Three quarters for one address.
  for (let at = 0; at < 8; at++)
    clients.push(await RawHttp1.open(portOf(listener.address), `PUT /b/cas/${HASH} ${head}`))
  await until(() => hasBegun() >= 3)
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(hasBegun(), 3)
  t.equal(ledger.kinds.windows.heldBytes, 3 * WINDOW_BYTES)
  for (const client of clients) if (/100/.test(client.said)) client.write(half)
  for (const client of clients) if (/100/.test(client.said)) client.socket.destroy()
  await until(() => hasBegun() >= 6)
  t.ok(ledger.kinds.windows.heldBytes <= 3 * WINDOW_BYTES)
  for (const { socket } of clients) socket.destroy()
  await until(() => ledger.kinds.windows.heldBytes === 0)
})

t.test('no decompressor is made without memory reserved for it', (t) => {
  const feed = new PushedFeed()
  const large = { compressor: { name: 'ZSTD' }, sizeBytes: 10 * MIB, windows: undefined } as const
  t.throws(() => uploaded(feed, large), /without memory/)
  t.throws(() => uploaded(feed, { ...large, sizeBytes: 1 }), /without memory/)
  t.throws(() => uploaded(Buffer.alloc(1), large), /without memory/)
  t.throws(() => uploaded(Buffer.alloc(1), { ...large, sizeBytes: undefined }), /without memory/)
  t.doesNotThrow(() => uploaded(Buffer.alloc(1), { ...large, sizeBytes: 1 }).discard())
  t.doesNotThrow(() => uploaded(feed, { ...large, compressor: undefined }).discard())
  t.end()
})

t.test('no answer of a cache is run by a browser: hits, misses, refusals and errors say so', async (t) => {
  const { ask, grpc } = await serveCaches(t, mounts)
  await ask('PUT', '/opaque/page', { body: '<script>', headers: { 'content-type': 'text/html' } })
  const told = [
    await ask('GET', '/opaque/page'),
    await ask('GET', '/opaque/none'),
    await ask('GET', '/opaque/%2e%2e'),
    await ask('PATCH', '/opaque/page'),
    await ask('PROPFIND', '/webdav/a'),
    await ask('GET', '/turborepo/v8/artifacts/status'),
    await ask('GET', '/bazel/status'),
    await ask('PUT', '/opaque/x', { body: 'x', headers: { 'content-encoding': 'gzip' } }),
  ]
  t.same(
    told.map(({ status }) => status),
    [200, 404, 400, 405, 207, 200, 200, 415],
  )
  for (const { headers } of told) {
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['content-security-policy'], "default-src 'none'; sandbox")
    t.match(headers['content-type'], /^(application\/(octet-stream|json|xml)|text\/plain)(;|$)/)
  }
  const two = await RawHttp1.open(portOf(grpc), 'GET /opaque/page HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n')
  t.same(statusesIn(await two.closed()), [400])
})

t.test('an encoding that nobody undoes is refused by all kinds, before the body', async (t) => {
  const { grpc, ask } = await serveCaches(t, mounts)
  for (const [kind, { path }] of Object.entries(uploads)) {
    const head = `PUT /${kind}/${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n`
    t.same(statusesIn(await (await RawHttp1.open(portOf(grpc), head)).closed()), [415], kind)
  }
  t.equal((await ask('PUT', '/opaque/x', { body: 'x', headers: { 'content-encoding': 'identity' } })).status, 200)
  t.equal((await ask('PUT', `/bazel/ac/${HASH}`, { body: 'x', headers: { 'content-encoding': 'zstd' } })).status, 415)
})

t.test('an address with a slash at its end finds the same entries', async (t) => {
  const { ask } = await serveCaches(t, mounts)
  for (const [path, missing] of [
    ['/nx//v1/cache/1', 404],
    ['/turborepo//v8/artifacts/status', 200],
    ['/webdav//.sccache_check', 404],
    [`/go//action/${HASH}`, 404],
    [`/gradle//${'0'.repeat(32)}`, 404],
    [`/bazel//cas/${HASH}`, 404],
    [`/ccache//${'a'.repeat(40)}`, 404],
    ['/opaque///a//b', 404],
    ['/maven//v1/group//artifact/sum/file', 404],
  ] as const)
    t.equal((await ask('GET', path)).status, missing, path)
  t.equal((await ask('PUT', '/opaque//a///b', { body: 'same' })).status, 200)
  t.equal((await ask('GET', '/opaque/a/b')).text, 'same')
  for (const path of ['/opaque', '/opaque/', '/opaque//', '/opaque//..//a', '/opaque//%2f'])
    t.equal((await ask('PUT', path, { body: 'x' })).status, 400, path)
})

t.test('the names that people give: spaces, signs and letters of all languages', async (t) => {
  const { ask } = await serveCaches(t, mounts)
  for (const name of ['a%20b', 'v1:linux', 'a=b', 'a~b', 'a,b', '%C3%BC', "it's", '%3Cb%3E&amp', '%E6%97%A5']) {
    const path = `/webdav/${name}/.sccache_check`
    t.equal((await ask('GET', path)).status, 404, path)
    t.equal((await ask('PUT', path, { body: name })).status, 200, path)
    t.equal((await ask('GET', path)).text, name)
    const { status, text } = await ask('PROPFIND', path)
    t.equal(status, 207)
    const [, href = ''] = /<D:href>(.*?)<\/D:href>/.exec(text) ?? []
    t.equal(decodeURIComponent(href.replace(/&lt;|&gt;/g, '').replace(/&amp;/g, '&')), decodeURIComponent(path))
    t.notMatch(href, /[<>"]/)
  }
  for (const name of ['..', '%2e%2e', 'a%00b', 'a%2fb', 'a%0ab', 'x'.repeat(256)])
    t.equal((await ask('PUT', `/webdav/${name}/x`, { body: 'x' })).status, 400, name)
  for (const slug of ['my+team', 'a%20b', 'v1:x=~,', '%C3%BC']) {
    t.equal((await ask('GET', `/turborepo/v8/artifacts/status?slug=${slug}`)).status, 200)
    const path = `/turborepo/v8/artifacts/0123456789abcdef?slug=${slug}`
    t.equal((await ask('GET', path)).status, 404, path)
    t.equal((await ask('PUT', path, { body: slug })).status, 200)
    t.equal((await ask('GET', path)).text, slug)
  }
  for (const slug of ['a%00b', 'a%0ab', 'x'.repeat(101)]) {
    t.equal((await ask('GET', `/turborepo/v8/artifacts/status?slug=${slug}`)).status, 400, 'said before each artifact')
    t.equal((await ask('GET', `/turborepo/v8/artifacts/0123456789abcdef?slug=${slug}`)).status, 400)
  }
})
