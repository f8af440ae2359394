import { Readable } from 'node:stream'
import t from 'tap'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { compression } from '../../../../src/store/kinds/compression/kind.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { WINDOW_BYTES } from '../../../../src/store/kinds/fast_slow/window.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { heldBytes } from '../../../held-memory.js'
import { bytesOf, call } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import type { Scope } from '../../remote/backend.js'
import { startGcs, withoutGcs } from '../experimental_cloud_object_store/gcs-server.js'
import { openObjectStore } from '../experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../experimental_cloud_object_store/s3-server.js'

const MIB = 1024 * 1024
const TRANSFERS = 64
/** All blobs together are more than twice what the transfers may hold. */
const LEAST_MIB = 8
/** The memory does not depend on it. REMEXEC_TEST_TRANSFER_MIB=256 moves 16 GiB, which needs time and disk. */
const SIZE_MIB = Number(process.env['REMEXEC_TEST_TRANSFER_MIB'] ?? LEAST_MIB)
const SIZE = SIZE_MIB * MIB
/** Google's protocol has the smallest parts, but its test server keeps a whole upload in memory: large ones use S3. */
const IS_LARGE = SIZE_MIB > LEAST_MIB
const PART = IS_LARGE ? 5 * MIB : MIB / 2
/** Of memory in front of the bucket. */
const NEAR = 8 * MIB
/** Bytes in flight of an upload (a path of five stages and a tee) and of a read (three stages). */
const UPLOADING = 2 * MIB
const READING = MIB

t.setTimeout(170_000 + SIZE_MIB * 10_000)

/** Peak of the additional memory during `work`, on the heap and outside, each time after a collection. */
const heldBy = async (work: () => Promise<unknown>): Promise<number> => {
  const before = heldBytes()
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, heldBytes() - before)
  }, 1000)
  await work().finally(() => clearInterval(timer))
  return most
}

const inGcs = async (t: Scope) => {
  const { bucket, proxy } = await startGcs(t)
  return { provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` } as const
}

const inS3 = async (t: Scope) => {
  process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey
  const { port, bucket } = await startS3(t)
  return { provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` } as const
}

t.test(
  '64 concurrent transfers through memory and a compressed bucket hold a part each, not a blob',
  { skip: IS_LARGE ? withoutS3 : withoutGcs },
  async (t) => {
    const { store: backend, close } = await openObjectStore({
      ...(IS_LARGE ? await inS3(t) : await inGcs(t)),
      resumable_chunk_size: PART,
      read_timeout_s: 120,
    })
    t.teardown(close)
    const lz4 = { block_size: 64 * 1024, max_decode_block_size: 0 }
    const options = { backend: given, compression_algorithm: { lz4 } }
    const slow = await buildStore(compression, options, { children: { backend } })
    const store = await buildStore(
      fastSlow,
      {
        fast: given,
        slow: given,
        ...tierDefaults,
      },
      { children: { fast: await memoryStore({ max_bytes: NEAR }), slow } },
    )
    const piece = bytesOf(MIB)
    // Each blob is the same bytes but for its first ones.
    function* pieces(index: number): Generator<Buffer> {
      const first = Buffer.from(piece)
      first.writeUInt32BE(index)
      yield first
      for (let at = MIB; at < SIZE; at += MIB) yield piece
    }
    const digests = Array.from({ length: TRANSFERS }, (_, index) => {
      const hasher = digestFunctions.SHA256.createHasher(undefined)
      for (const bytes of pieces(index)) hasher.update(bytes)
      return Digest.ofHash(hasher, SIZE, digestFunctions.SHA256)
    })
    const put = (digest: Digest, index: number): Promise<void> =>
      store.put(digest, Blob.ofPath([Readable.from(pieces(index), { objectMode: false })], { sizeBytes: SIZE }), call)
    const written = await heldBy(() => Promise.all(digests.map(put)))
    const get = async (digest: Digest): Promise<void> => {
      const blob = await store.get(digest, WHOLE, call)
      await blob.verify(digest, { fault: 'backend' }).drain(call.signal)
    }
    const read = await heldBy(() => Promise.all(digests.map(get)))
    t.comment(
      `written ${Math.round(written / MIB)} MiB, read ${Math.round(read / MIB)} MiB of ${(TRANSFERS * SIZE) / MIB}`,
    )
    t.comment(`resident ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB at most`)
    // Memory and as much again for uploads, a part of each transfer that is filled and one that is sent.
    t.ok(written < 2 * NEAR + TRANSFERS * (2 * PART + UPLOADING), `${written} bytes for uploads`)
    // Memory likewise, and what readers may lag behind each of the 32 copies.
    t.ok(read < 2 * NEAR + 32 * WINDOW_BYTES + TRANSFERS * READING, `${read} bytes for reads`)
  },
)
