import t, { type Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { Store } from '../../src/blobs/store.js'
import { silentLog } from '../../src/log/log.js'
import type { Chunking } from '../../src/reapi/chunking.js'
import { Digest } from '../../src/reapi/digest.js'
import type { DigestBatch } from '../../src/reapi/digest-batch.js'
import { chunkSizesOf, FastCdc } from '../../src/reapi/fast-cdc.js'
import { RepMaxCdc } from '../../src/reapi/rep-max-cdc.js'
import { type Call, internalCall } from '../../src/rpc/call.js'
import { ChunkedBlobs } from '../../src/service/cas/chunked-blobs.js'
import { asCas } from '../../src/store/view/cas.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { deduplicated } from '../store/composed.js'
import { Watched } from '../store/watched.js'
import {
  BLAKE3,
  type Blob,
  blobOf,
  CAPABILITIES,
  CAS,
  failure,
  get,
  has,
  memoryStore,
  put,
  randomBlob,
  SHA256,
  serve,
  wire,
} from './harness.js'

const AVERAGE_BYTES = 4096
const MAX_BYTES = 4 * AVERAGE_BYTES
const cdc = new FastCdc(chunkSizesOf(AVERAGE_BYTES))

const timed = { clock: new ManualClock(), log: silentLog }

interface Started {
  readonly cas: Store
  readonly backend: Watched
  readonly lists: Store
  ask(method: string, request: object): Promise<{ readonly chunkDigests: Digest[]; readonly chunkingFunction: number }>
}

const start = async (
  t: Test,
  { maxChunkCount = 50_000, keepsLists = true, chunking = cdc as Chunking } = {},
): Promise<Started> => {
  const backend = new Watched(await memoryStore())
  const cas = asCas(backend)
  const lists = await memoryStore()
  const chunked = new ChunkedBlobs({
    lists: keepsLists ? asKeyed(lists) : undefined,
    chunking,
    maxChunkCount,
    ...timed,
  })
  const { client } = await serve(t, { instances: { '': { cas, chunked }, whole: { cas } } })
  return { cas, backend, lists, ask: (method, request) => client.unary(`${CAS}/${method}`, request).response }
}

/** Cuts a blob like a client. */
const cut = ({ bytes, digest }: Blob): Blob[] => {
  const cutter = cdc.cutter()
  const chunks: Blob[] = []
  for (let from = 0; from < bytes.length; ) {
    const to = cutter.cut(bytes, from, bytes.length, true)
    chunks.push(blobOf(bytes.subarray(from, to), digest.function))
    from = to
  }
  return chunks
}

const FAST_CDC_2020 = 1
const REP_MAX_CDC = 2

t.test('CAP-14, CAP-15, SPL-01: splitting is announced if configured, else UNIMPLEMENTED', async (t) => {
  const chunked = new ChunkedBlobs({ lists: undefined, chunking: cdc, maxChunkCount: 10, ...timed })
  const { client } = await serve(t, { instances: { '': { chunked }, whole: {} } })
  const cacheOf = async (instanceName: string) =>
    (await client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response).cacheCapabilities
  t.match(await cacheOf(''), {
    splitBlobSupport: true,
    spliceBlobSupport: true,
    fastCdc2020Params: { avgChunkSizeBytes: AVERAGE_BYTES, seed: 0 },
  })
  t.match(await cacheOf('whole'), { splitBlobSupport: false, spliceBlobSupport: false, fastCdc2020Params: null })
  for (const method of ['SplitBlob', 'SpliceBlob']) {
    const { code } = await failure(client.unary(`${CAS}/${method}`, { instanceName: 'whole' }).response)
    t.equal(code, 'UNIMPLEMENTED', method)
  }
})

t.test('SPL-02, SPL-10: a blob is split as FAST_CDC_2020 says, and its chunks are in the CAS', async (t) => {
  for (const digestFunction of [SHA256, BLAKE3]) {
    const { cas, ask } = await start(t)
    const blob = blobOf(randomBlob(3_000_000).bytes, digestFunction)
    await put(cas, blob)
    for (const chunkingFunction of [0, FAST_CDC_2020, 2]) {
      const request = { blobDigest: wire(blob.digest), digestFunction: digestFunction.value, chunkingFunction }
      const answer = await ask('SplitBlob', request)
      t.same(
        answer.chunkDigests.map(({ hash }) => hash),
        cut(blob).map(({ digest }) => digest.hash),
      )
      t.equal(answer.chunkingFunction, FAST_CDC_2020)
      const chunks = answer.chunkDigests.map((message) => Digest.parse(message, digestFunction))
      const whole = Buffer.concat(await Promise.all(chunks.map((chunk) => get(cas, chunk))))
      t.ok(whole.equals(blob.bytes))
    }
  }
})

t.test('a blob is read once to be split, and again when a chunk is gone', async (t) => {
  const { cas, backend, ask } = await start(t)
  const blob = randomBlob(200_000)
  await put(cas, blob)
  const split = () => ask('SplitBlob', { blobDigest: wire(blob.digest) })
  const first = await split()
  const { reads } = backend
  t.same((await split()).chunkDigests, first.chunkDigests)
  t.equal(backend.reads, reads)
  const [chunk] = cut(blob)
  await cas.remove((chunk as Blob).digest, 'unwanted', internalCall())
  t.same((await split()).chunkDigests, first.chunkDigests)
  t.equal(backend.reads, reads + 1)
  t.ok(await has(cas, (chunk as Blob).digest))
})

t.test('without a store for the lists, each request splits the blob anew', async (t) => {
  const { cas, ask } = await start(t, { keepsLists: false })
  const blob = randomBlob(100_000)
  await put(cas, blob)
  for (let i = 0; i < 2; i++) {
    t.equal((await ask('SplitBlob', { blobDigest: wire(blob.digest) })).chunkDigests.length, cut(blob).length)
  }
})

t.test('a blob that is too small to cut is one chunk, the empty blob has none', async (t) => {
  const { cas, ask } = await start(t)
  const blob = randomBlob(100)
  await put(cas, blob)
  t.same((await ask('SplitBlob', { blobDigest: wire(blob.digest) })).chunkDigests, [wire(blob.digest)])
  t.same((await ask('SplitBlob', { blobDigest: wire(blobOf('').digest) })).chunkDigests, [])
})

t.test('SPL-03: an absent blob, and one of too many chunks, are NOT_FOUND', async (t) => {
  const { cas, ask } = await start(t, { maxChunkCount: 3 })
  const blob = randomBlob(100_000)
  t.equal((await failure(ask('SplitBlob', { blobDigest: wire(blob.digest) }))).code, 'NOT_FOUND')
  await put(cas, blob)
  const { code, message } = await failure(ask('SplitBlob', { blobDigest: wire(blob.digest) }))
  t.equal(code, 'NOT_FOUND')
  t.match(message, /more than 3 chunks/)
})

t.test('a blob that the backend has damaged is not split', async (t) => {
  const { cas, backend, ask } = await start(t)
  const blob = randomBlob(100_000)
  const damaged = Buffer.from(blob.bytes)
  damaged[50_000] = (damaged[50_000] ?? 0) ^ 1
  await put(backend, { ...blob, bytes: damaged })
  t.equal((await failure(ask('SplitBlob', { blobDigest: wire(blob.digest) }))).code, 'DATA_LOSS')
  t.notOk(await has(cas, blob.digest), 'it is dropped')
})

const splice = (blob: Blob, chunks: readonly Blob[], more: object = {}) => ({
  blobDigest: wire(blob.digest),
  chunkDigests: chunks.map(({ digest }) => wire(digest)),
  ...more,
})

t.test('SPL-04, SPL-08, SPL-09: chunks become a blob, and its chunk list is stored', async (t) => {
  const { cas, lists, ask } = await start(t)
  const blob = randomBlob(40_000)
  const ends = [10_000, 10_001, 26_000, 40_000]
  const chunks = ends.map((end, at) => blobOf(blob.bytes.subarray(ends[at - 1] ?? 0, end)))
  await put(cas, ...chunks)
  for (let i = 0; i < 2; i++) {
    t.match(await ask('SpliceBlob', splice(blob, chunks)), { blobDigest: wire(blob.digest) })
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
  }
  t.ok(await has(lists, Digest.ofOwn('CHUNK_LIST', blob.digest.key)))
  t.notOk(await has(lists, blob.digest), 'under a key that no client can name')
  const { chunkDigests, chunkingFunction } = await ask('SplitBlob', { blobDigest: wire(blob.digest) })
  t.same(
    chunkDigests,
    chunks.map(({ digest }) => wire(digest)),
  )
  t.equal(chunkingFunction, 0)
})

t.test('a chunk may occur many times and be larger than a lent buffer', async (t) => {
  const { cas, ask } = await start(t)
  const [large, small] = [randomBlob(6 * 1024 * 1024), randomBlob(10)]
  await put(cas, large, small)
  const order = [small, large, small, small, large, small]
  const blob = blobOf(Buffer.concat(order.map(({ bytes }) => bytes)))
  await ask('SpliceBlob', splice(blob, order))
  t.ok((await get(cas, blob.digest)).equals(blob.bytes))
})

t.test('SPL-05, SPL-06, SPL-07: chunks that do not result in the blob are refused', async (t) => {
  const { cas, ask } = await start(t)
  const blob = randomBlob(100_000)
  const [first, second] = [blobOf(blob.bytes.subarray(0, 40_000)), blobOf(blob.bytes.subarray(40_000))]
  const refused = async (request: object, code: string, what: string) => {
    t.equal((await failure(ask('SpliceBlob', request))).code, code, what)
    t.notOk(await has(cas, blob.digest))
  }
  await put(cas, first)
  await refused(splice(blob, [first, second]), 'NOT_FOUND', 'a chunk that is absent')
  await put(cas, second)
  await refused(splice(blob, [second, first]), 'INVALID_ARGUMENT', 'another order')
  await refused(splice(blob, [first]), 'INVALID_ARGUMENT', 'too few bytes')
  await refused(splice(blob, []), 'INVALID_ARGUMENT', 'no chunk')
  await refused({ chunkDigests: [wire(first.digest)] }, 'INVALID_ARGUMENT', 'no blob_digest')
  await refused(splice(blob, [first, second], { digestFunction: BLAKE3.value }), 'NOT_FOUND', 'another function')
  await ask('SpliceBlob', splice(blob, [first, second]))
  t.ok(await has(cas, blob.digest))
})

t.test("a chunk that the backend has damaged is not the client's fault, and is dropped", async (t) => {
  const { cas, backend, ask } = await start(t)
  const blob = randomBlob(100_000)
  const [first, second] = [blobOf(blob.bytes.subarray(0, 40_000)), blobOf(blob.bytes.subarray(40_000))]
  await put(cas, first)
  await put(backend, { ...second, bytes: Buffer.alloc(60_000) })
  t.equal((await failure(ask('SpliceBlob', splice(blob, [first, second])))).code, 'DATA_LOSS')
  t.notOk(await has(cas, blob.digest))
  t.notOk(await has(cas, second.digest))
})

t.test('more chunks than the limit are refused', async (t) => {
  const { ask } = await start(t, { maxChunkCount: 2 })
  const blob = randomBlob(30)
  const { code, message } = await failure(ask('SpliceBlob', splice(blob, [blob, blob, blob])))
  t.equal(code, 'INVALID_ARGUMENT')
  t.match(message, /at most 2/)
})

t.test('with REP_MAX_CDC its parameters are announced, and its chunks answered', async (t) => {
  const chunking = new RepMaxCdc({ minBytes: 1024, horizonBytes: 8192 })
  const chunked = new ChunkedBlobs({ lists: undefined, chunking, maxChunkCount: 10, ...timed })
  const { client } = await serve(t, { instances: { '': { chunked } } })
  const { cacheCapabilities } = await client.unary(`${CAPABILITIES}/GetCapabilities`, {}).response
  t.match(cacheCapabilities, {
    splitBlobSupport: true,
    fastCdc2020Params: null,
    repMaxCdcParams: { minChunkSizeBytes: 1024, horizonSizeBytes: 8192 },
  })
  const { cas, ask } = await start(t, { chunking })
  const whole = randomBlob(100_000)
  await put(cas, whole)
  const { chunkDigests, chunkingFunction } = await ask('SplitBlob', { blobDigest: whole.digest })
  t.equal(chunkingFunction, REP_MAX_CDC)
  t.ok(chunkDigests.every(({ sizeBytes }) => sizeBytes >= 1024 && sizeBytes < 2048))
  const parts = await Promise.all(
    Digest.parseAll(chunkDigests as never, whole.digest.function, 'x').map((one) => get(cas, one)),
  )
  t.ok(Buffer.concat(parts).equals(whole.bytes))
})

t.test('a list with a chunk that is larger than announced is cut again', async (t) => {
  const { cas, ask } = await start(t)
  const whole = randomBlob(MAX_BYTES * 5)
  const halves = [whole.bytes.subarray(0, MAX_BYTES + 1), whole.bytes.subarray(MAX_BYTES + 1)].map((bytes) =>
    blobOf(bytes),
  )
  for (const half of halves) await put(cas, half)
  await ask('SpliceBlob', { blobDigest: whole.digest, chunkDigests: halves.map(({ digest }) => digest) })
  const { chunkDigests, chunkingFunction } = await ask('SplitBlob', { blobDigest: whole.digest })
  t.equal(chunkingFunction, FAST_CDC_2020)
  t.ok(chunkDigests.length >= 5 && chunkDigests.every(({ sizeBytes }) => sizeBytes <= MAX_BYTES))
})

t.test('over a store of chunks, SplitBlob answers its list and SpliceBlob writes one: no second copy', async (t) => {
  const [index, content] = [new Watched(await memoryStore()), new Watched(await memoryStore())]
  const store = await deduplicated(index, content)
  const chunked = new ChunkedBlobs({
    lists: undefined,
    chunking: store.chunks?.chunking ?? cdc,
    maxChunkCount: 40,
    ...timed,
  })
  const { client } = await serve(t, { instances: { '': { cas: asCas(store), chunked } } })
  const ask = (method: string, request: object) => client.unary(`${CAS}/${method}`, request).response
  const whole = randomBlob(300_000)
  await put(store, whole)
  const [lists, puts] = [index.puts, content.puts]
  const { chunkDigests, chunkingFunction } = await ask('SplitBlob', { blobDigest: wire(whole.digest) })
  t.equal(chunkingFunction, FAST_CDC_2020)
  t.ok(chunkDigests.length > 3)
  t.same([index.puts, content.puts], [lists, puts], 'nothing is written')
  const small = randomBlob(10_000)
  await put(store, small)
  const alone = await ask('SplitBlob', { blobDigest: wire(small.digest) })
  t.same(alone.chunkDigests, [wire(small.digest)], 'a blob of chunk size is its only chunk')
  const other = randomBlob(100_000)
  const halves = [other.bytes.subarray(0, 50_000), other.bytes.subarray(50_000)].map((bytes) => blobOf(bytes))
  await put(store, ...halves)
  const before = content.puts
  t.match(await ask('SpliceBlob', splice(other, halves)), { blobDigest: wire(other.digest) })
  t.equal(content.puts, before)
  t.ok((await get(store, other.digest)).equals(other.bytes))
  const wrong = failure(ask('SpliceBlob', splice(randomBlob(100_000), halves)))
  t.equal((await wrong).code, 'INVALID_ARGUMENT')
  const large = randomBlob(140_000)
  const thirds = [large.bytes.subarray(0, 70_000), large.bytes.subarray(70_000)].map((bytes) => blobOf(bytes))
  await put(store, ...thirds)
  await ask('SpliceBlob', splice(large, thirds))
  const again = await ask('SplitBlob', { blobDigest: wire(large.digest) })
  t.ok(
    again.chunkDigests.every(({ sizeBytes }: { sizeBytes: number }) => sizeBytes <= 65_536),
    'larger ones are cut',
  )
  const long = randomBlob(3_000_000)
  await put(store, long)
  t.equal((await failure(ask('SplitBlob', { blobDigest: wire(long.digest) }))).code, 'NOT_FOUND')
})

t.test(
  'what a SpliceBlob of many chunks takes is reserved before its list is decoded, and released at its end',
  async (t) => {
    const backend = new Gated(await memoryStore())
    const cas = asCas(backend)
    const chunked = new ChunkedBlobs({ lists: undefined, chunking: cdc, maxChunkCount: 50_000, ...timed })
    const { client, ledger } = await serve(t, {
      instances: { '': { cas, chunked } },
      bounds: { requests: 18 * 1024 * 1024 },
    })
    const chunk = blobOf('x')
    await put(cas, chunk)
    const list = Array.from({ length: 10_000 }, () => wire(chunk.digest))
    const request = { blobDigest: { hash: 'ab'.repeat(32), sizeBytes: 10_000 }, chunkDigests: list }
    const { requests } = ledger.kinds
    const before = requests.heldBytes
    const asking = failure(client.unary(`${CAS}/SpliceBlob`, request).response)
    await backend.reached
    t.ok(
      requests.heldBytes - before > 5 * 1024 * 1024,
      `${requests.heldBytes - before} bytes are held for 10,000 chunks`,
    )
    const second = await Promise.race([
      failure(client.unary(`${CAS}/SpliceBlob`, request).response),
      backend.reachedAgain,
    ])
    t.equal(second?.code, 'RESOURCE_EXHAUSTED')
    backend.open()
    t.equal((await asking).code, 'INVALID_ARGUMENT', 'another blob')
    t.ok(requests.heldBytes <= before + 64 * 1024, 'nothing is held afterwards')
  },
)

/** Answers questions about missing blobs once it is opened. */
class Gated extends ForwardingStore {
  readonly #asked: (() => void)[] = []
  open: () => void = () => {}
  readonly reached = this.#next()
  readonly reachedAgain = this.#next()
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve
  })

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    if (digests.count > 1) {
      this.#asked.shift()?.()
      await this.#opened
    }
    return super.findMissing(digests, call)
  }

  #next(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#asked.push(() => resolve(undefined))
    })
  }
}

t.test(
  'a blob that is larger than its store is refused by SpliceBlob before any chunk is looked up or read',
  async (t) => {
    const backend = new Watched(await memoryStore(undefined, 1024 * 1024))
    const cas = asCas(backend)
    const chunked = new ChunkedBlobs({ lists: undefined, chunking: cdc, maxChunkCount: 50_000, ...timed })
    const { client } = await serve(t, { instances: { '': { cas, chunked } } })
    const chunk = randomBlob(100_000)
    await put(cas, chunk)
    const asked = backend.questions.length
    const chunkDigests = Array.from({ length: 40 }, () => wire(chunk.digest))
    const request = { blobDigest: { hash: 'cd'.repeat(32), sizeBytes: 4_000_000 }, chunkDigests }
    const { code, message } = await failure(client.unary(`${CAS}/SpliceBlob`, request).response)
    t.match([code, message], ['INVALID_ARGUMENT', /larger than the store/])
    t.same([backend.questions.length, backend.reads], [asked, 0])
  },
)
