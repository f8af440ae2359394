import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { TestClient } from '../server/client.js'
import { assetServer, from, origin } from './asset/server.js'
import { openWrite, uploadName } from './bytestream-client.js'
import { blobOf, CAS, failure, randomBlob, SHA256, wire } from './harness.js'

const MIB = 1024 * 1024
const policy = { eviction_policy: { max_bytes: MIB } }

const start = async (t: Test, cas: object, more: object = {}): Promise<TestClient> => {
  const text = JSON.stringify({
    stores: { CAS: cas, CHUNKS: { memory: policy }, ...more },
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS', experimental_chunking: { index_store: 'CHUNKS' } }] },
      },
    ],
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(config, { clock: systemClock, log: silentLog })
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(async () => {
    client.close()
    await running.close()
  })
  return client
}

const stores = (folder: string): readonly (readonly [name: string, cas: object])[] => {
  const filesystem = { content_path: join(folder, 'c'), temp_path: join(folder, 't'), ...policy }
  const big = { filesystem: { content_path: join(folder, 'b'), temp_path: join(folder, 'bt') } }
  const shard = { stores: [{ store: { memory: policy } }, { store: { memory: policy } }] }
  return [
    ['memory', { memory: policy }],
    ['filesystem', { filesystem }],
    ['behind fast_slow', { fast_slow: { fast: big, slow: { memory: policy } } }],
    ['in parts', { shard }],
  ]
}

for (const [name, cas] of stores(t.testdir())) {
  t.test(`a blob that is larger than its store is refused before its content: ${name}`, async (t) => {
    const client = await start(t, cas)
    const { digest } = blobOf(Buffer.alloc(3 * MIB, name))
    for (const compressor of [undefined, ...compressors]) {
      const { send, response } = openWrite(client)
      // The first of many messages; nothing follows.
      void send({
        resourceName: uploadName(digest, compressor && { compressor }),
        data: Buffer.alloc(10),
        writeOffset: 0,
        finishWrite: false,
      })
      t.match(await failure(response), { code: 'INVALID_ARGUMENT', message: /larger than the store, .* 1048576 bytes/ })
    }
    const small = randomBlob(1000)
    const requests = [
      { digest: wire(digest), data: Buffer.alloc(10), compressor: 1 },
      { digest: wire(small.digest), data: small.bytes },
    ]
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
    t.same(
      responses.map(({ status }: { status?: { code: number } }) => status?.code ?? 0),
      [3, 0],
    )
    const splice = { blobDigest: wire(digest), chunkDigests: [wire(small.digest)] }
    t.match(await failure(client.unary(`${CAS}/SpliceBlob`, splice).response), {
      code: 'INVALID_ARGUMENT',
      message: /larger than the store/,
    })
  })
}

/** Refused by the first message of an upload. */
const refusal = async (client: TestClient, digest: Digest) => {
  const { send, response } = openWrite(client)
  void send({ resourceName: uploadName(digest), data: Buffer.alloc(10), writeOffset: 0, finishWrite: false })
  return failure(response)
}

for (const [algorithm, ratio] of [
  ['lz4', 255],
  ['zstd', 32_768],
] as const)
  t.test(
    `a blob that cannot be compressed enough for its store is refused before its content: ${algorithm}`,
    async (t) => {
      const client = await start(t, {
        compression: { compression_algorithm: { [algorithm]: {} }, backend: { memory: policy } },
      })
      const { digest } = blobOf(Buffer.from(algorithm))
      const tooLarge = Digest.parse({ hash: digest.hash, sizeBytes: ratio * MIB + 1 }, SHA256)
      t.match(await refusal(client, tooLarge), { code: 'INVALID_ARGUMENT', message: /larger than the store, / })
    },
  )

t.test('a blob whose list of chunks is larger than the index of dedup is refused before its content', async (t) => {
  const policies = { index_store: { memory: policy }, content_store: { memory: policy } }
  const client = await start(t, { dedup: { ...policies, max_size: 524_288 } })
  const { digest, bytes } = blobOf(Buffer.alloc(3 * MIB))
  const requests = [{ digest: wire(digest), data: bytes }]
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  t.same(responses[0].status?.code ?? 0, 0, 'equal chunks are kept once')
  const tooLarge = Digest.parse({ hash: digest.hash, sizeBytes: Math.ceil(MIB / 38) * 524_288 }, SHA256)
  t.match(await refusal(client, tooLarge), { code: 'INVALID_ARGUMENT', message: /larger than the store, / })
})

t.test('a store that may keep less than the blob has refuses nothing by its length', async (t) => {
  const compression = { compression_algorithm: { lz4: {} }, backend: { memory: policy } }
  const client = await start(t, { compression })
  const { digest, bytes } = blobOf(Buffer.alloc(3 * MIB, 'x'))
  const requests = [{ digest: wire(digest), data: bytes }]
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  t.same(
    responses.map(({ status }: { status?: { code: number } }) => status?.code ?? 0),
    [0],
  )
})

t.test('an asset that is larger than the store is refused by the length that its origin says', async (t) => {
  let sentBytes = 0
  const { url, port } = await origin(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 * MIB })
    response.on('error', () => {})
    const send = (): void => {
      if (response.destroyed || sentBytes >= 100 * MIB) return
      sentBytes += 64 * 1024
      response.write(Buffer.alloc(64 * 1024), () => setImmediate(send))
    }
    send()
  })
  const { fetchBlob } = await assetServer(t, { download: from(port), store: { memory: policy } })
  t.match(await fetchBlob({ uris: [`${url}/large`] }), {
    status: { code: 8, message: /more than 1048576 bytes/ },
  })
  t.ok(sentBytes < 20 * MIB, `${sentBytes} bytes were sent`)
})
