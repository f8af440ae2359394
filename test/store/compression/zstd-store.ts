import type { Zstd } from '../../../src/config/config.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { compression } from '../../../src/store/compression.js'
import type { CompressedBlobs, Store } from '../../../src/store/store.js'
import { ZstdDecompress } from '../../../src/stream/compression/zstd.js'
import { collect, run } from '../../../src/stream/run.js'
import { call, cut, source } from '../blobs.js'
import { buildStore, given } from '../build.js'

const KIB = 1024

/** Blobs in zstd over a store at hand, in blocks of 64 KiB. */
export const zstdStore = (backend: Store, settings: Partial<Zstd> = {}): Promise<Store> => {
  const zstd = { block_size: 64 * KIB, level: 1, max_uploaded_frame_size: 8 * KIB * KIB, ...settings }
  return buildStore(compression, { backend: given, compression_algorithm: { zstd } }, { children: { backend } })
}

export const kept = ({ compressed }: Store): CompressedBlobs => {
  if (compressed === undefined) throw new Error('the store keeps no compressed blobs')
  return compressed
}

/** What a client that reads zstd gets. */
export const wire = async (store: Store, digest: Digest): Promise<Buffer> =>
  collect(await kept(store).reader(digest, call), { maxBytes: 1e9, signal: call.signal })

export const unpack = (bytes: Buffer): Promise<Buffer> =>
  collect([source(cut(bytes)), new ZstdDecompress()], { maxBytes: 1e9, signal: call.signal })

/** Uploads zstd, `bytes` as they are. */
export const upload = async (
  store: Store,
  digest: Digest,
  bytes: Buffer,
  { sizes = [64 * KIB], signal = call.signal }: { sizes?: readonly number[]; signal?: AbortSignal } = {},
): Promise<void> => run([source(cut(bytes, sizes)), ...(await kept(store).writer(digest, call))], signal)
