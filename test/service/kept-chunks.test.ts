import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import { missingOf, PLAIN, type StoreProperties } from '../../src/blobs/store.js'
import { textLog } from '../../src/log/log.js'
import { chunkSizesOf, FastCdc } from '../../src/reapi/fast-cdc.js'
import { internalCall } from '../../src/rpc/call.js'
import { ChunkedBlobs } from '../../src/service/cas/chunked-blobs.js'
import { KeptChunks } from '../../src/service/cas/kept-chunks.js'
import { asCas } from '../../src/store/view/cas.js'
import { Watched } from '../store/watched.js'
import { memoryStore, put, randomBlob } from './harness.js'

const STORE_BYTES = 1_000_000
const HALF_A_STORE = 500_000
const HALF_A_MINUTE_MS = 30_000
const cdc = new FastCdc(chunkSizesOf(4096))

const start = async () => {
  const clock = new ManualClock(1_000_000)
  const lines: string[] = []
  const log = textLog('warn', (line) => lines.push(line))
  const backend = new Watched(await memoryStore(clock, STORE_BYTES))
  return { clock, lines, log, backend, cas: asCas(backend) }
}

/** Uploads half the size of the store every half minute. */
const flood = async ({ clock, cas }: Awaited<ReturnType<typeof start>>, halfMinutes: number): Promise<void> => {
  for (let i = 0; i < halfMinutes; i++) {
    await put(cas, randomBlob(HALF_A_STORE))
    clock.advance(HALF_A_MINUTE_MS)
    await turn()
  }
}

t.test('the chunks of a SplitBlob answer outlive a flood of ten minutes, and no longer', async (t) => {
  const started = await start()
  const { clock, cas, log } = started
  const chunked = new ChunkedBlobs({ lists: undefined, chunking: cdc, maxChunkCount: 100, clock, log })
  const blob = randomBlob(100_000)
  await put(cas, blob)
  const { chunks } = await chunked.listOf(blob.digest, cas, 100, internalCall())
  const gone = async () => (await missingOf(cas, chunks, internalCall())).length
  t.ok(chunks.length > 5)
  await flood(started, 19)
  t.same(await missingOf(cas, [blob.digest], internalCall()), [blob.digest], 'the blob itself is evicted')
  t.equal(await gone(), 0)
  await flood(started, 5)
  t.equal(await gone(), chunks.length, 'after ten minutes they are evicted like other blobs')
})

t.test('without an answer the same flood evicts chunks: the flood is large enough', async (t) => {
  const started = await start()
  const chunks = [randomBlob(4096), randomBlob(4096)]
  await put(started.cas, ...chunks)
  await flood(started, 3)
  const digests = chunks.map(({ digest }) => digest)
  t.same(await missingOf(started.cas, digests, internalCall()), digests)
})

t.test('a repeated answer restarts the ten minutes', async (t) => {
  const started = await start()
  const { clock, cas, log } = started
  const kept = new KeptChunks({ clock, log })
  const [blob, chunk] = [randomBlob(10), randomBlob(4096)]
  await put(cas, chunk)
  kept.keep(blob.digest, [chunk.digest], cas)
  await flood(started, 15)
  kept.keep(blob.digest, [chunk.digest], cas)
  await flood(started, 15)
  t.same(await missingOf(cas, [chunk.digest], internalCall()), [])
})

t.test('with too many chunks the oldest answers are dropped and logged', async (t) => {
  const { clock, cas, backend, log, lines } = await start()
  const kept = new KeptChunks({ clock, log, maxKept: 3 })
  const blobs = [randomBlob(10), randomBlob(11), randomBlob(12)]
  const chunksOf = new Map(blobs.map(({ digest }) => [digest, [randomBlob(20).digest, randomBlob(21).digest]]))
  for (const [digest, chunks] of chunksOf) kept.keep(digest, chunks, cas)
  clock.advance(HALF_A_MINUTE_MS)
  await turn()
  const [, , newest] = [...chunksOf.values()]
  t.same(backend.questions, [newest?.map(({ key }) => key)], 'one answer of two chunks fits')
  t.equal(lines.length, 2)
  t.match(lines[0], /more chunks than are kept.*leftS=600/)
})

t.test('a failing store is logged and asked again', async (t) => {
  const { clock, log, lines, backend } = await start()
  class Failing extends ForwardingStore {
    asked = 0
    override findMissing(): Promise<never> {
      this.asked += 1
      return Promise.reject(new StatusError('UNAVAILABLE', 'the store is away'))
    }
  }
  const failing = new Failing(backend)
  new KeptChunks({ clock, log }).keep(randomBlob(10).digest, [randomBlob(20).digest], failing)
  for (let i = 0; i < 21; i++) {
    clock.advance(HALF_A_MINUTE_MS)
    await turn()
  }
  t.equal(failing.asked, 19)
  t.match(lines[0], /could not keep the chunks of a blob in use.*the store is away/)
  t.equal(clock.nextInMs, Number.POSITIVE_INFINITY, 'no timer is left when the ten minutes are over')
})

t.test('a store whose findMissing extends no lifetime is not asked', async (t) => {
  const { clock, log, backend } = await start()
  class Bucket extends ForwardingStore {
    override get properties(): StoreProperties {
      return PLAIN
    }
  }
  new KeptChunks({ clock, log }).keep(randomBlob(10).digest, [randomBlob(20).digest], new Bucket(backend))
  t.equal(clock.nextInMs, Number.POSITIVE_INFINITY)
  t.same(backend.questions, [])
})
