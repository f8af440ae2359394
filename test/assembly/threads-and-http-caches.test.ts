import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { codec } from '../../src/proto/codec.js'
import { ServiceThreads } from '../../src/server/threads/service-threads.js'
import { drawnBytes } from '../drawn.js'
import { TestClient } from '../server/client.js'
import { AC, CAS } from '../service/harness.js'

// HTTP caches are served by the owner, gRPC of the same port in threads, both in the same stores.

const THREADS = 2
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac']
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const hashOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')
const digestOf = (bytes: Buffer) => ({ hash: hashOf(bytes), sizeBytes: bytes.length })

const token = (name: string, ...groups: string[]) => ({ name, sha256: hashOf(name), groups })
const SECURITY = {
  identity: { tokens: [token('ci', 'ci'), token('one', 'branches'), token('two', 'branches'), token('reader')] },
  access: [
    { groups: ['ci', 'branches'], may: ALL },
    { names: ['reader'], may: ['read_cas', 'read_ac'] },
  ],
  scopes: { rules: [{ groups: ['branches'], scope: 'branches/{name}' }] },
}

/** Where an entry of each kind is put, and its body. Its parts come from `id`, 64 hex digits. */
const ENTRIES: Readonly<Record<string, (id: string, body: Buffer) => string>> = {
  ccache: (id) => `/ccache/${id.slice(0, 40)}`,
  go: (id, body) => `/go/${id}/${hashOf(body)}`,
  gradle: (id) => `/gradle/${id.slice(0, 32)}`,
  maven: (id) => `/maven/v1/group/artifact/${id}/f`,
  nx: (id) => `/nx/v1/cache/${Number.parseInt(id.slice(0, 8), 16)}`,
  opaque: (id) => `/opaque/any/${id}`,
  turborepo: (id) => `/turborepo/v8/artifacts/${id}`,
  webdav: (id) => `/webdav/a/${id}`,
}
/** Where it is got. */
const READ_AT: Readonly<Record<string, (id: string) => string>> = { go: (id) => `/go/output/${id}` }
const REMOVE: readonly string[] = ['ccache', 'opaque', 'webdav']

interface Asked {
  readonly body?: Buffer
  readonly by?: string | undefined
}

type Stores = (files: (name: string) => object) => { readonly cas: object; readonly ac: object }

/** Stores that threads use. */
const STORES: Readonly<Record<string, Stores>> = {
  'plain stores': (files) => ({ cas: { fast_slow: { fast: files('cas'), slow: { noop: {} } } }, ac: files('ac') }),
  'stores with stages': (files) => ({
    cas: {
      verify: {
        verify_hash: true,
        backend: {
          compression: {
            compression_algorithm: { zstd: {} },
            backend: {
              size_partitioning: {
                size: 100_000,
                lower_store: { shard: { stores: ['one', 'two'].map((name) => ({ store: files(name) })) } },
                upper_store: files('cas'),
              },
            },
          },
        },
      },
    },
    ac: {
      completeness_checking: {
        backend: {
          cache_metrics: {
            cache_type: 'results',
            backend: { compression: { compression_algorithm: { lz4: {} }, backend: files('ac') } },
          },
        },
        cas_store: { ref_store: { name: 'CAS' } },
      },
    },
  }),
}

const serving = async (t: Test, storesOf: Stores, security?: object) => {
  const folder = t.testdir()
  const files = (name: string) => ({
    filesystem: {
      ...{ content_path: join(folder, name), temp_path: join(folder, `${name}-temp`) },
      eviction_policy: { max_bytes: '1gb' },
    },
  })
  const { cas, ac } = storesOf(files)
  const chunking = { experimental_chunking: { index_store: 'LISTS', avg_chunk_size_bytes: 4096 } }
  const http_cache = Object.fromEntries(
    ['bazel', ...Object.keys(ENTRIES)].map((kind) => [`/${kind}`, { kind, instance_name: 'main' }]),
  )
  const text = JSON.stringify({
    global: { threads: THREADS },
    instances: { apart: { isolate: true }, beside: { isolate: true }, child: { parent: 'main' } },
    stores: {
      CAS: cas,
      AC: ac,
      CHILD: files('child'),
      APART: files('apart'),
      RESULTS: files('results'),
      LISTS: { memory: { eviction_policy: { max_bytes: '10mb' } } },
    },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: {
            '*': { cas_store: 'CAS', ...chunking },
            apart: { cas_store: 'APART' },
            beside: { cas_store: 'APART' },
          },
          ac: {
            '*': { ac_store: 'AC' },
            ...{ child: { ac_store: 'CHILD' }, apart: { ac_store: 'RESULTS' }, beside: { ac_store: 'RESULTS' } },
          },
          http_cache,
        },
      },
    },
    ...(security && { security }),
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const starts = t.capture(ServiceThreads, 'start', ServiceThreads.start)
  const running = await assemble(config, { clock: systemClock, log: silentLog })
  const [start] = starts()
  if (start === undefined || !('returned' in start)) throw new Error('no thread was started')
  const threads = await start.returned
  t.teardown(() => running.close())
  const address = running.addresses[0]?.address ?? ''
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const http = async (method: string, path: string, { body, by }: Asked = {}) => {
    const headers = by === undefined ? {} : { authorization: `Bearer ${by}` }
    const sent = request(`http://${address}${path}`, { method, headers, agent }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
  }
  const clients: TestClient[] = []
  for (let count = 0; count < THREADS; count++) {
    const client = new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 })
    t.teardown(() => client.close())
    const found = client.unary('build.bazel.remote.execution.v2.Capabilities/GetCapabilities', {})
    await found.response.catch(() => {})
    clients.push(client)
  }
  t.same(threads.connectionCounts, [1, 1], 'each thread has a connection')
  /** Over gRPC, in the thread of this number. */
  const in_ = (thread: number, by?: string) => {
    const metadata = new Metadata()
    if (by !== undefined) metadata.set('authorization', `Bearer ${by}`)
    const client = clients[thread % THREADS] as TestClient
    const call = (method: string, request: object, instanceName = 'main') =>
      client.unary(method, { instanceName, ...request }, { metadata }).response
    return {
      update: (action: Buffer, stdout: string, instance?: string) =>
        call(
          `${AC}/UpdateActionResult`,
          { actionDigest: digestOf(action), actionResult: { stdoutRaw: Buffer.from(stdout) } },
          instance,
        ),
      result: (action: Buffer, instance?: string): Promise<string> =>
        call(`${AC}/GetActionResult`, { actionDigest: digestOf(action) }, instance).then(
          ({ stdoutRaw }) => `${stdoutRaw as Buffer}`,
          ({ code }) => `code ${code}`,
        ),
      upload: (data: Buffer, instance?: string) =>
        call(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: digestOf(data), data }] }, instance),
      has: async (bytes: Buffer, instance?: string): Promise<boolean> => {
        const { missingBlobDigests } = await call(
          `${CAS}/FindMissingBlobs`,
          { blobDigests: [digestOf(bytes)] },
          instance,
        )
        return (missingBlobDigests as unknown[]).length === 0
      },
      announced: async (): Promise<unknown> => {
        const { cacheCapabilities } = await call('build.bazel.remote.execution.v2.Capabilities/GetCapabilities', {})
        return cacheCapabilities
      },
      split: async (bytes: Buffer) => {
        const { chunkDigests } = await call(`${CAS}/SplitBlob`, { blobDigest: digestOf(bytes) })
        return chunkDigests as { hash: string; sizeBytes: number }[]
      },
      splice: (bytes: Buffer, chunkDigests: readonly object[]) =>
        call(`${CAS}/SpliceBlob`, { blobDigest: digestOf(bytes), chunkDigests }),
      read: async (bytes: Buffer): Promise<unknown> => {
        const { responses } = await call(`${CAS}/BatchReadBlobs`, { digests: [digestOf(bytes)] })
        return (responses as { status: { code: number } | null }[])[0]?.status?.code ?? 0
      },
    }
  }
  const putResult = (action: Buffer, stdout: string, by?: string, instance = '') =>
    http('PUT', `/bazel${instance}/ac/${hashOf(action)}`, {
      body: resultCodec.encode({ stdoutRaw: Buffer.from(stdout) }),
      by,
    })
  const getResult = async (action: Buffer, by?: string, instance = ''): Promise<string> => {
    const { status, body } = await http('GET', `/bazel${instance}/ac/${hashOf(action)}`, { by })
    return status === 200 ? `${resultCodec.decode(body).stdoutRaw}` : `status ${status}`
  }
  return { folder, http, in: in_, putResult, getResult }
}

for (const [over, storesOf] of Object.entries(STORES)) {
  t.test(`${over}: blobs and results of one are those of the other, also when they are replaced`, async (t) => {
    const server = await serving(t, storesOf)
    for (const sizeBytes of [100, 70_000, 2_000_000]) {
      const [overHttp, overGrpc] = [drawnBytes(sizeBytes), drawnBytes(sizeBytes)]
      t.equal(await server.in(0).has(overHttp), false)
      t.equal((await server.http('PUT', `/bazel/cas/${hashOf(overHttp)}`, { body: overHttp })).status, 200)
      t.equal(await server.in(0).has(overHttp), true)
      t.equal(await server.in(1).read(overHttp), 0)
      await server.in(1).upload(overGrpc)
      const got = await server.http('GET', `/bazel/cas/${hashOf(overGrpc)}`)
      t.ok(got.body.equals(overGrpc), 'found by its hash alone')
    }
    const action = drawnBytes(140)
    await server.in(0).upload(action)
    for (let round = 0; round < 5; round++) {
      t.equal((await server.putResult(action, `http ${round}`)).status, 200)
      t.equal(await server.in(0).result(action), `http ${round}`)
      t.equal(await server.in(1).result(action), `http ${round}`)
      await server.in(round).update(action, `grpc ${round}`)
      t.equal(await server.getResult(action), `grpc ${round}`)
    }
    const unseen = drawnBytes(150)
    await server.in(1).update(unseen, 'without its Action in the CAS')
    t.equal(await server.getResult(unseen), 'without its Action in the CAS', 'its size is known')
  })

  t.test(
    `${over}: entries of every kind: their bodies are blobs of gRPC, and an entry ends with its blob`,
    async (t) => {
      const server = await serving(t, storesOf)
      for (const [kind, pathOf] of Object.entries(ENTRIES)) {
        const put = async (id: string, body: Buffer): Promise<string> => {
          const path = pathOf(id, body)
          t.ok((await server.http('PUT', path, { body })).status < 300, path)
          return READ_AT[kind]?.(hashOf(body)) ?? path
        }
        const id = drawnBytes(32).toString('hex')
        const [first, second] = [drawnBytes(5000), drawnBytes(300_000)]
        const before = await put(id, first)
        t.equal(await server.in(0).has(first), true, kind)
        t.ok((await server.http('GET', before)).body.equals(first), kind)
        // A blob that came over gRPC may be a body.
        await server.in(1).upload(second)
        const path = await put(id, second)
        t.ok((await server.http('GET', path)).body.equals(second), `${kind}: the last upload stays`)
        // Gone from the disk: the thread that reads it finds out, and the owner's cache has a miss.
        const name = readdirSync(join(server.folder, 'cas'), { recursive: true })
          .map(String)
          .find((each) => each.includes(hashOf(second).slice(2, 20)))
        if (name === undefined) t.fail(`${kind}: the blob is no file`)
        else rmSync(join(server.folder, 'cas', name))
        t.equal(await server.in(1).read(second), 5, kind)
        t.equal((await server.http('GET', path)).status, 404, kind)
        if (REMOVE.includes(kind)) {
          const again = await put(id, first)
          t.equal((await server.http('DELETE', again)).status, 204)
          t.equal((await server.http('GET', again)).status, 404)
          t.equal(await server.in(0).has(first), true, 'the blob stays')
        }
      }
    },
  )

  t.test(`${over}: the owner splits and joins blobs, whose chunks are those of the threads`, async (t) => {
    const server = await serving(t, storesOf)
    t.match(await server.in(0).announced(), { splitBlobSupport: true, spliceBlobSupport: true })
    const whole = drawnBytes(200_000)
    await server.http('PUT', `/bazel/cas/${hashOf(whole)}`, { body: whole })
    const chunks = await server.in(0).split(whole)
    t.ok(chunks.length > 5, `${chunks.length} chunks`)
    let at = 0
    for (const { sizeBytes } of chunks) {
      const chunk = whole.subarray(at, at + sizeBytes)
      t.equal(await server.in(chunks.length).read(chunk), 0)
      at += sizeBytes
    }
    const parts = [drawnBytes(5000), drawnBytes(6000)]
    for (const part of parts) await server.in(1).upload(part)
    const joined = Buffer.concat(parts)
    await server.in(0).splice(joined, parts.map(digestOf))
    t.equal(await server.in(1).has(joined), true)
    t.ok((await server.http('GET', `/bazel/cas/${hashOf(joined)}`)).body.equals(joined))
  })

  t.test(`${over}: all at once: whoever reads gets what somebody wrote, and in the end all the same`, async (t) => {
    const server = await serving(t, storesOf)
    const actions = Array.from({ length: 8 }, () => drawnBytes(120))
    for (const action of actions) {
      await server.in(0).upload(action)
      await server.putResult(action, 'first')
    }
    const strange: string[] = []
    const written = /^(first|(http|grpc) \d+)$/
    const work = async (lane: number): Promise<void> => {
      for (let round = 0; round < 60; round++) {
        const action = actions[(lane + round) % actions.length] as Buffer
        if (lane % 4 === 0) await server.putResult(action, `http ${round}`)
        else if (lane % 4 === 1) await server.in(lane >> 2).update(action, `grpc ${round}`)
        else {
          const found = lane % 4 === 2 ? await server.getResult(action) : await server.in(lane >> 2).result(action)
          if (!written.test(found)) strange.push(found)
        }
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, lane) => work(lane)))
    t.same(strange, [])
    for (const action of actions) {
      const found = await server.getResult(action)
      t.same([await server.in(0).result(action), await server.in(1).result(action)], [found, found])
    }
  })

  t.test(`${over}: scopes, instances that are apart, and those with a parent`, async (t) => {
    const server = await serving(t, storesOf, SECURITY)
    const { putResult, getResult } = server
    const everywhere = async (action: Buffer, by: string, instance = '') => [
      await getResult(action, by, instance === '' ? '' : `/${instance}`),
      ...(await Promise.all([0, 1].map((thread) => server.in(thread, by).result(action, instance || undefined)))),
    ]
    const all = (text: string, miss = false) => (miss ? ['status 404', 'code 5', 'code 5'] : [text, text, text])
    const MISS = all('', true)
    const action = drawnBytes(130)
    await server.in(0, 'ci').upload(action)
    for (const [by, write] of [
      ['one', () => putResult(action, 'of one', 'one')],
      ['two', () => server.in(1, 'two').update(action, 'of two')],
    ] as const) {
      t.same(await everywhere(action, by), MISS, 'nothing of another branch')
      await write()
      t.same(await everywhere(action, by), all(`of ${by}`))
      t.same(await everywhere(action, 'ci'), MISS, 'what a branch writes is not for all')
    }
    await putResult(action, 'of all', 'ci')
    t.same(await everywhere(action, 'reader'), all('of all'))
    t.same(await everywhere(action, 'one'), all('of one'))
    await server.in(0, 'ci').update(action, 'of all, again')
    t.same(await everywhere(action, 'reader'), all('of all, again'))
    t.equal((await putResult(action, 'of a reader', 'reader')).status, 403)
    await t.rejects(server.in(0, 'reader').update(action, 'of a reader'), { code: 7 })
    t.equal(await getResult(action), 'status 401')
    // Instances.
    t.same(await everywhere(action, 'ci', 'apart'), MISS)
    t.same(await everywhere(action, 'ci', 'child'), all('of all, again'), 'its parent has it')
    await server.in(1, 'ci').upload(action, 'child')
    await putResult(action, 'of child', 'ci', '/child')
    t.same(await everywhere(action, 'ci', 'child'), all('of child'))
    await server.in(1, 'ci').upload(action, 'apart')
    await server.in(1, 'ci').update(action, 'of apart', 'apart')
    t.same(await everywhere(action, 'ci', 'apart'), all('of apart'))
    t.same(await everywhere(action, 'ci', 'beside'), MISS)
    await server.in(0, 'ci').upload(action, 'beside')
    await putResult(action, 'of beside', 'ci', '/beside')
    t.same(await everywhere(action, 'ci', 'beside'), all('of beside'))
    t.same(await everywhere(action, 'ci', 'apart'), all('of apart'))
    t.same(await everywhere(action, 'ci'), all('of all, again'))
  })
}
