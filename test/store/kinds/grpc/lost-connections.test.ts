import t from 'tap'
import { putBytes } from '../../../../src/blobs/store.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { endpoint, openGrpcStore, startRemexec, untilWell } from './remexec.js'

t.jobs = 2

const KIB = 1024
const MIB = 1024 * KIB
const PATIENT = { max_retries: 10, delay: 0.02, jitter: 0, budget_s: 30 }
const PLAIN = { experimental_remote_cache_compression: false } as const

const shared = startRemexec(t)

const blob = (sizeBytes: number, seed: string) => {
  const bytes = bytesOf(sizeBytes, seed)
  return { bytes, digest: digestOf(bytes) }
}

void t.test(
  'a connection lost in the middle loses no byte, and a cancelled upload shows no partial blob',
  async (t) => {
    const server = await shared
    const proxy = await TcpProxy.start(t, server.port)
    const { store } = await openGrpcStore(t, { endpoints: [endpoint(proxy.port)], retry: PATIENT, ...PLAIN })
    for (const [i, at] of [100 * KIB, MIB, 2 * MIB].entries()) {
      const { bytes, digest } = blob(3 * MIB, `held ${i}`)
      proxy.cutAfter(at)
      await putBytes(store, digest, bytes, call)
      proxy.cutAfter(at)
      t.ok((await get(store, digest)).equals(bytes), `cut after ${at} bytes, and gone on`)
      proxy.cutAfter(at)
      const part = { offset: 1000, limit: 2.5 * MIB }
      t.ok((await get(store, digest, part)).equals(bytes.subarray(1000, 1000 + 2.5 * MIB)), 'a part of it')
      // Of a stream only its latest bytes are kept: a cut that loses no more costs nothing.
      const streamed = blob(3 * MIB, `streamed ${i}`)
      proxy.cutAfter(at)
      await put(store, streamed.digest, streamed.bytes)
      proxy.cutAfter(Number.POSITIVE_INFINITY)
      t.ok((await get(store, streamed.digest)).equals(streamed.bytes), 'and streamed')
    }
    const hasty = await openGrpcStore(t, { endpoints: [endpoint(proxy.port)] })
    const other = blob(3 * MIB, 'never whole')
    await untilWell(hasty.store)
    // The first retry is immediate, whatever the configuration is.
    proxy.cutAfter(MIB, MIB)
    await rejects(t, put(hasty.store, other.digest, other.bytes), 'UNAVAILABLE')
    await untilWell(hasty.store)
    t.notOk(await isPresent(hasty.store, other.digest))
  },
)

void t.test('a zstd read lost in the middle fails: it never continues with another stream', async (t) => {
  const server = await shared
  const proxy = await TcpProxy.start(t, server.port)
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(proxy.port)], retry: PATIENT })
  const { bytes, digest } = blob(8 * MIB, 'zstd')
  await put(store, digest, bytes)
  // About half of what is sent.
  proxy.cutAfter(2 * MIB)
  await rejects(t, get(store, digest), 'UNAVAILABLE')
  await untilWell(store)
  t.ok((await get(store, digest)).equals(bytes))
})
