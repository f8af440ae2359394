import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { zstdCompress, zstdDecompress } from '../../../src/stream/compression/zstd.js'
import { TestClient } from '../../server/client.js'
import { bodyOf, KIB, MIB, type ServedCaches, serveCaches, streamed } from './harness.js'

const REAPI = 'build.bazel.remote.execution.v2'
const resultCodec = codec(`${REAPI}.ActionResult`)
const treeCodec = codec(`${REAPI}.Tree`)
const BAZEL = [
  { path: '/', kind: 'bazel', instance_name: 'main' },
  { path: '/small', kind: 'bazel', instance_name: 'main', max_size: '1kb' },
]

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const digestOf = (bytes: Buffer) => ({ hash: hashOf(bytes), sizeBytes: bytes.length })

const clientOf = (t: Test, { grpc }: ServedCaches): TestClient => {
  const client = new TestClient(grpc)
  t.teardown(() => client.close())
  return client
}

/** Blobs and their Action, as a build makes them. */
const built = () => {
  const [output, action, inTree] = [bodyOf(300), bodyOf(140), bodyOf(77)]
  const tree = treeCodec.encode({ root: { files: [{ name: 'f', digest: digestOf(inTree) }] } })
  const result = {
    outputFiles: [{ path: 'out/a', digest: digestOf(output), isExecutable: true }],
    outputDirectories: [{ path: 'out/d', treeDigest: digestOf(tree) }],
    stdoutRaw: Buffer.from('said'),
  }
  return { output, action, inTree, tree, result, blobs: [output, action, inTree, tree] }
}

t.test('blobs by their hash: known and unknown lengths, zstd, HEAD, and what is wrong', async (t) => {
  const { ask } = await serveCaches(t, BAZEL)
  for (const sizeBytes of [32, 4 * KIB, MIB]) {
    for (const send of ['length', 'chunked', 'zstd', 'zstd without a length']) {
      const bytes = bodyOf(sizeBytes)
      const path = `/cas/${hashOf(bytes)}`
      t.equal((await ask('GET', path)).status, 404)
      const isZstd = send.startsWith('zstd')
      const headers = {
        ...(isZstd && { 'content-encoding': 'zstd' }),
        ...(send === 'zstd' && { 'x-digest-sizebytes': String(sizeBytes) }),
      }
      const body = isZstd ? zstdCompress(bytes) : send === 'chunked' ? streamed(bytes) : bytes
      t.match(await ask('PUT', path, { body, headers }), { status: 200, text: '' }, send)
      t.equal((await ask('PUT', path, { body: bytes })).status, 200, 'again')
      t.ok((await ask('GET', path)).body.equals(bytes), send)
      const head = await ask('HEAD', path)
      t.match([head.status, head.headers['content-length']], [200, String(sizeBytes)])
      const packed = await ask('GET', path, { headers: { 'accept-encoding': 'zstd,gzip' } })
      t.equal(packed.headers['content-encoding'], 'zstd')
      t.ok(zstdDecompress(packed.body, sizeBytes)?.equals(bytes))
    }
  }
  const empty = hashOf(Buffer.alloc(0))
  t.match(await ask('GET', `/cas/${empty}`), { status: 200, text: '' }, 'always there: a health check')
  t.equal((await ask('PUT', `/cas/${empty}`, { body: '' })).status, 200)
  const other = bodyOf(2000)
  for (const body of [other, streamed(other), bodyOf(10)]) {
    const wrong = await ask('PUT', `/cas/${hashOf(bodyOf(3))}`, { body })
    t.match(wrong, { status: 400, text: /SHA256|SHA-256/ })
  }
  t.equal((await ask('PUT', `/small/cas/${hashOf(other)}`, { body: other })).status, 413)
  t.equal((await ask('PUT', `/small/cas/${hashOf(other)}`, { body: streamed(other) })).status, 413)
  const gzip = { body: other, headers: { 'content-encoding': 'gzip' } }
  t.equal((await ask('PUT', `/cas/${hashOf(other)}`, gzip)).status, 415)
  t.equal((await ask('GET', `/cas/${hashOf(other)}`)).status, 404)
  for (const path of ['/cas/abc', '/ac', `/cas/${'A'.repeat(64)}`, `/other/thing/${'a'.repeat(64)}`])
    t.equal((await ask('GET', path)).status, 400, path)
  t.equal((await ask('GET', `/unknown/cas/${'a'.repeat(64)}`)).status, 400)
  t.equal((await ask('POST', `/cas/${'a'.repeat(64)}`, { body: 'x' })).status, 405)
  t.ok(JSON.parse((await ask('GET', '/status')).text).ServerTime > 0)
})

t.test('what a build wrote over HTTP is a hit over gRPC', async (t) => {
  const served = await serveCaches(t, BAZEL)
  const client = clientOf(t, served)
  const { action, result, blobs, output } = built()
  for (const blob of blobs) await served.ask('PUT', `/cas/${hashOf(blob)}`, { body: blob })
  const put = await served.ask('PUT', `/ac/${hashOf(action)}`, { body: resultCodec.encode(result) })
  t.match(put, { status: 200, text: '' })
  const asked = { instanceName: 'main', actionDigest: digestOf(action) }
  const found = await client.unary(`${REAPI}.ActionCache/GetActionResult`, asked).response
  t.same(found.outputFiles[0]?.digest, digestOf(output))
  t.equal(found.stdoutRaw.toString(), 'said')
})

t.test('what a build wrote over gRPC is a hit over HTTP, with the files inside trees, and in JSON', async (t) => {
  const served = await serveCaches(t, BAZEL)
  const client = clientOf(t, served)
  const { action, result, blobs } = built()
  const requests = blobs.map((data) => ({ digest: digestOf(data), data }))
  await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { instanceName: 'main', requests }).response
  const path = `/ac/${hashOf(action)}`
  t.equal((await served.ask('GET', path)).status, 404)
  const update = { instanceName: 'main', actionDigest: digestOf(action), actionResult: result }
  await client.unary(`${REAPI}.ActionCache/UpdateActionResult`, update).response
  const got = await served.ask('GET', path)
  t.match(resultCodec.decode(got.body), { outputFiles: [{ path: 'out/a' }], outputDirectories: [{ path: 'out/d' }] })
  for (const blob of blobs.slice(2)) t.ok((await served.ask('GET', `/cas/${hashOf(blob)}`)).body.equals(blob))
  t.ok((await served.ask('GET', `/main${path}`)).body.equals(got.body), 'the instance may be named')
  t.equal((await served.ask('GET', `/pr${path}`)).status, 200, 'instances that are not isolated share their store')

  const json = await served.ask('GET', path, { headers: { accept: 'application/json' } })
  t.match(json.headers['content-type'], /json/)
  t.match(JSON.parse(json.text), { outputFiles: [{ path: 'out/a', digest: { sizeBytes: '300' }, isExecutable: true }] })
  const again = `/ac/${hashOf(bodyOf(9))}`
  const headers = { 'content-type': 'application/json' }
  t.equal((await served.ask('PUT', again, { body: json.text, headers })).status, 200)
  t.ok((await served.ask('GET', again)).body.equals(got.body), 'from JSON and back')
  t.match(await served.ask('PUT', again, { body: '{"outputFiles":3}', headers }), {
    status: 400,
    text: /outputFiles is 3/,
  })
})

t.test(
  'the page of an action has its requests over HTTP, also the miss from before its Action was there',
  async (t) => {
    const pages = { path: '/pages' }
    const { ask } = await serveCaches(t, BAZEL, { services: { pages } })
    const { action, blobs, result } = built()
    const path = `/ac/${hashOf(action)}`
    t.equal((await ask('GET', path)).status, 404)
    for (const blob of blobs) await ask('PUT', `/cas/${hashOf(blob)}`, { body: blob })
    await ask('PUT', path, { body: resultCodec.encode(result) })
    t.equal((await ask('GET', path)).status, 200)
    const page = await ask('GET', `/pages/main/blobs/sha256/action/${hashOf(action)}-${action.length}/`)
    const rows = [...page.text.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) =>
      row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
    )
    const requests = rows.filter((row) => / HTTP \/ /.test(row))
    t.match(requests.join('|'), /hit .*\|.*written .*\|.*miss absent/)
  },
)

const memory = { memory: { eviction_policy: { max_bytes: '50mb' } } }
const small = { memory: { eviction_policy: { max_bytes: '1kb' } } }
const STORES = {
  memory,
  wrapped: { verify: { backend: { compression: { compression_algorithm: { zstd: {} }, backend: memory } } } },
  tiers: { fast_slow: { fast: small, slow: memory } },
  dedup: { dedup: { index_store: memory, content_store: memory, min_size: 1000, normal_size: 2000, max_size: 4000 } },
  shards: { shard: { stores: [{ store: memory }, { store: memory }] } },
  'by size': { size_partitioning: { size: 1000, lower_store: memory, upper_store: memory } },
}

for (const [name, cas] of Object.entries(STORES)) {
  t.test(`${name}: a blob that came over gRPC, and that no result names, is found by its hash`, async (t) => {
    const served = await serveCaches(t, BAZEL, { cas })
    const client = clientOf(t, served)
    const blobs = [bodyOf(10), bodyOf(20_000)]
    const requests = blobs.map((data) => ({ digest: digestOf(data), data }))
    for (const blob of blobs) t.equal((await served.ask('HEAD', `/cas/${hashOf(blob)}`)).status, 404)
    await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { instanceName: 'main', requests })
      .response
    for (const blob of blobs) {
      const path = `/cas/${hashOf(blob)}`
      t.ok((await served.ask('GET', path)).body.equals(blob))
      t.equal((await served.ask('HEAD', path)).headers['content-length'], String(blob.length))
    }
  })
}

t.test('a result put without its Action replaces the one that was put with it', async (t) => {
  const served = await serveCaches(t, BAZEL)
  const client = clientOf(t, served)
  const action = bodyOf(140)
  const path = `/ac/${hashOf(action)}`
  const lost = { outputFiles: [{ path: 'out/a', digest: digestOf(bodyOf(5)) }] }
  const update = { instanceName: 'main', actionDigest: digestOf(action), actionResult: lost }
  await client.unary(`${REAPI}.ActionCache/UpdateActionResult`, update).response
  t.equal((await served.ask('GET', path)).status, 404, 'its output is not there')
  await served.ask('PUT', path, { body: resultCodec.encode({ stdoutRaw: Buffer.from('again') }) })
  t.equal(resultCodec.decode((await served.ask('GET', path)).body).stdoutRaw.toString(), 'again')
})

t.test('an entry of ccache with layout=bazel is refused with the kind of cache that ccache needs', async (t) => {
  const { ask } = await serveCaches(t, BAZEL)
  // Its magic number, which reads as a field that is longer than the entry.
  const entry = Buffer.concat([Buffer.from([0x62, 0x53, 0x0a, 0x53]), Buffer.alloc(12, 1)])
  for (const body of [entry, Buffer.from('0a5301020304050607080910', 'hex')]) {
    const { status, text } = await ask('PUT', `/ac/${hashOf(body)}`, { body })
    t.equal(status, 400)
    t.match(text, /not a valid ActionResult, .*; ccache needs a cache of kind "ccache"/)
    t.notMatch(text, /out of range/)
  }
})

t.test('a result without its blobs is a miss, and what is no result is refused', async (t) => {
  const { ask } = await serveCaches(t, BAZEL)
  const { action, result, blobs } = built()
  const path = `/ac/${hashOf(action)}`
  t.equal((await ask('PUT', path, { body: resultCodec.encode(result) })).status, 200)
  t.equal((await ask('GET', path)).status, 404)
  for (const blob of blobs) await ask('PUT', `/cas/${hashOf(blob)}`, { body: blob })
  t.equal((await ask('GET', path)).status, 200)
  t.match(await ask('PUT', path, { body: Buffer.from('ccache says \xff') }), { status: 400, text: /ActionResult/ })
  t.match(await ask('PUT', path, { body: resultCodec.encode({ outputFiles: [{ path: '../x' }] }) }), { status: 400 })
})

t.test(
  'a body that is no result is refused and stored nowhere: the manifest of another tool, nothing, unknown fields',
  async (t) => {
    const { ask } = await serveCaches(t, BAZEL)
    // What moon 2.4.0 to 2.4.5 send.
    const manifest = {
      files: [{ path: 'app/out', digest: { hash: hashOf(Buffer.from('out')), size: 3 }, is_executable: false }],
      ...{ symlinks: [], exit_code: 0, stdout_digest: null, stderr_digest: null },
    }
    const json = { 'content-type': 'application/json' }
    const bodies: readonly (readonly [Buffer | string, Record<string, string>, RegExp])[] = [
      [JSON.stringify(manifest), json, /^files is not a field of/],
      [JSON.stringify({ ...manifest, files: [] }), json, /^files is not a field of/],
      [
        JSON.stringify({ outputFiles: [{ path: 'a', digest: { hash: hashOf(Buffer.from('')), size: 3 } }] }),
        json,
        /^outputFiles\[0\]\.digest\.size /,
      ],
      ['{}', json, /is empty/],
      ['', json, /not valid JSON/],
      ['', {}, /is empty/],
      [Buffer.from([0xa2, 0x06, 0x01, 0x61]), {}, /is empty/],
      [JSON.stringify(manifest), {}, /not a valid/],
    ]
    for (const [at, [body, headers, message]] of bodies.entries()) {
      const path = `/ac/${hashOf(Buffer.from(`body ${at}`))}`
      const refused = await ask('PUT', path, { body, headers })
      t.match([refused.status, refused.text], [400, message], String(body))
      t.equal((await ask('GET', path)).status, 404, String(body))
    }
  },
)

t.test('a result whose output directory is another content is a miss over HTTP, told as damaged', async (t) => {
  const { ask, said, ...served } = await serveCaches(t, BAZEL)
  const client = clientOf(t, { ask, said, ...served })
  const log = Buffer.from('hello world, this is a log file\n'.repeat(10))
  await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, {
    instanceName: 'main',
    requests: [{ digest: digestOf(log), data: log }],
  }).response
  const actionDigest = digestOf(Buffer.from('an action'))
  const actionResult = { outputDirectories: [{ path: 'd', treeDigest: digestOf(log) }] }
  await client.unary(`${REAPI}.ActionCache/UpdateActionResult`, { instanceName: 'main', actionDigest, actionResult })
    .response
  t.equal((await ask('GET', `/ac/${actionDigest.hash}`)).status, 404)
  t.match(said.text, /miss=damaged/)
})
