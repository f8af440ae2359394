import t, { type Test } from 'tap'
import { asCas } from '../../../../src/store/view/cas.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { endpoint, openGrpcStore, startRemexec } from './remexec.js'

const filesystem = (name: string): object => ({ filesystem: { content_path: name, temp_path: `${name}-temp` } })

/** Chunks of 4 to 64 KiB. */
const chunked = {
  CAS: {
    dedup: {
      ...{ chunking_function: 'fast_cdc_2020', avg_chunk_size_bytes: 16_384 },
      ...{ index_store: filesystem('lists'), content_store: filesystem('chunks') },
    },
  },
}

const first = bytesOf(1_000_000, 'chunked upload')
const second = Buffer.concat([first.subarray(0, 500_000), bytesOf(100, 'new'), first.subarray(500_000)])

const open = async (t: Test, stores: object, experimental_chunked_uploads = true) => {
  const { port } = await startRemexec(t, { stores })
  const proxy = await TcpProxy.start(t, port)
  const wire = { experimental_remote_cache_compression: false, experimental_chunked_uploads }
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(proxy.port)], ...wire })
  const sentFor = async (bytes: Buffer): Promise<number> => {
    const sent = proxy.record()
    await put(store, digestOf(bytes), bytes)
    return sent().length
  }
  return { store, sentFor }
}

t.test('an upload sends only the chunks that the server lacks', async (t) => {
  const { store, sentFor } = await open(t, chunked)
  t.ok((await sentFor(first)) > first.length)
  const sentBytes = await sentFor(second)
  t.ok(sentBytes < 300_000, `${sentBytes} bytes for a blob of which 100 bytes are new`)
  for (const bytes of [first, second]) t.ok((await get(store, digestOf(bytes))).equals(bytes))
  const small = bytesOf(64 * 1024, 'no larger than a chunk')
  await put(store, digestOf(small), small)
  t.ok((await get(store, digestOf(small))).equals(small))
})

t.test('without the option, and at a server that splices nothing, blobs are sent whole', async (t) => {
  for (const { sentFor, store } of [await open(t, chunked, false), await open(t, {})]) {
    for (const bytes of [first, second]) {
      t.ok((await sentFor(bytes)) > bytes.length)
      t.ok((await get(store, digestOf(bytes))).equals(bytes))
    }
  }
})

t.test('bytes that are not those of the digest are refused before the server has the blob', async (t) => {
  const { store } = await open(t, chunked)
  const wrong = Buffer.from(first).fill(0, 999_999)
  await rejects(t, put(asCas(store), digestOf(first), wrong), 'INVALID_ARGUMENT')
  t.notOk(await isPresent(store, digestOf(first)))
  const cancelled = { ...call, signal: AbortSignal.abort() }
  await rejects(t, store.put(digestOf(first), Blob.ofBytes(first), cancelled), 'CANCELLED')
})
