import { PassThrough, Transform } from 'node:stream'
import t from 'tap'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { Store } from '../../src/blobs/store.js'
import { verify } from '../../src/store/kinds/verify/kind.js'
import { asCas } from '../../src/store/view/cas.js'
import type { Blob } from '../../src/stream/blob/blob.js'
import type { BlobStage } from '../../src/stream/blob/stage.js'
import { collect } from '../../src/stream/collect.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import { WHOLE } from '../../src/stream/path.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../store/blobs.js'
import { buildStore, given, memoryStore } from '../store/build.js'
import { unpack, upload, wire, zstdStore } from '../store/kinds/compression/zstd-store.js'
import { rejects } from '../store/suite.js'

const verified = (backend: Store, checks: { size?: boolean; hash?: boolean } = {}): Promise<Store> =>
  buildStore(
    verify,
    { backend: given, verify_size: checks.size ?? true, verify_hash: checks.hash ?? true },
    { children: { backend } },
  )

const setUp = async (checks: { size?: boolean; hash?: boolean } = {}) => {
  const backend = await zstdStore(await memoryStore())
  return { backend, store: asCas(await verified(backend, checks)) }
}

t.test('intact blobs pass in their stored compressed form', async (t) => {
  const { backend, store } = await setUp()
  for (const sizeBytes of [0, 1, 64 * 1024, 3_000_000]) {
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    const made = zstdCompress(bytes)
    await upload(store, digest, made)
    if (sizeBytes > 0) t.ok((await wire(backend, digest)).equals(made), `${sizeBytes} bytes are kept as they came`)
    t.ok((await unpack(await wire(store, digest))).equals(bytes))
    t.ok((await get(store, digest)).equals(bytes))
  }
})

t.test('a damaged blob is DATA_LOSS once, then a miss, and is never read whole', async (t) => {
  for (const sizeBytes of [2, 1000, 3_000_000]) {
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    const bodies = {
      'a wrong byte': Buffer.concat([bytes.subarray(1), Buffer.from('?')]),
      'a byte less': bytes.subarray(1),
      'a byte more': Buffer.concat([bytes, Buffer.from('x')]),
    }
    for (const [title, body] of Object.entries(bodies)) {
      const { backend, store } = await setUp()
      await put(backend, digest, body)
      const stored = await wire(backend, digest)
      let passedBytes = 0
      const path = (await store.get(digest, { ...WHOLE, wantedAs: 'ZSTD' }, call)).as('ZSTD').path()
      path.at(-1)?.on('data', (chunk: Buffer) => {
        passedBytes += chunk.length
      })
      await rejects(t, collect(path, { maxBytes: 1e9, signal: call.signal }), 'DATA_LOSS')
      t.ok(passedBytes < stored.length, `${title}: ${passedBytes} of ${stored.length} bytes passed`)
      t.notOk(await isPresent(backend, digest), 'it is removed')
      await rejects(t, wire(store, digest), 'NOT_FOUND')
    }
  }
})

t.test('undecodable bytes are the fault of the backend', async (t) => {
  const bytes = bytesOf(1_000_000)
  const digest = digestOf(bytes)
  const memory = await memoryStore()
  await put(memory, digest, bytes)
  const garbled: BlobStage = {
    windowBytes: 0,
    stream: () => new PassThrough(),
    as: () => [
      {
        windowBytes: 0,
        stream: () => new Transform({ transform: (_, _encoding, done) => done(null, Buffer.alloc(500, 0xa5)) }),
      },
    ],
  }
  const backend = new (class extends ForwardingStore {
    protected override outgoing(blob: Blob): Blob {
      return blob.through(garbled)
    }
  })(memory)
  const store = await verified(backend)
  await rejects(t, wire(store, digest), 'DATA_LOSS')
  t.notOk(await isPresent(memory, digest))
})

t.test('only what is configured is checked', async (t) => {
  const bytes = bytesOf(1_000_000)
  const digest = digestOf(bytes)
  const other = bytesOf(1_000_000, 'other')
  const { backend, store } = await setUp({ hash: false })
  await put(backend, digest, other)
  t.ok((await unpack(await wire(store, digest))).equals(other), 'the length is right')
  await put(backend, digest, other.subarray(1))
  await rejects(t, wire(store, digest), 'DATA_LOSS')
})

t.test('an abandoned read removes nothing', async (t) => {
  const { backend, store } = await setUp()
  const bytes = bytesOf(1_000_000)
  const digest = digestOf(bytes)
  await put(backend, digest, bytes)
  ;(await store.get(digest, WHOLE, call)).as('ZSTD').discard()
  t.ok((await unpack(await wire(store, digest))).equals(bytes))
})
