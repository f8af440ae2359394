import type { Store } from '../../../../src/blobs/store.js'
import type { Zstd } from '../../../../src/config/config.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { compression } from '../../../../src/store/kinds/compression/kind.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { call, cut, source } from '../../blobs.js'
import { buildStore, given } from '../../build.js'

const KIB = 1024

/** Blobs in zstd over a given store, in blocks of 64 KiB. */
export const zstdStore = (backend: Store, settings: Partial<Zstd> = {}): Promise<Store> => {
  const zstd = { block_size: 64 * KIB, level: 1, max_uploaded_frame_size: 8 * KIB * KIB, ...settings }
  return buildStore(compression, { backend: given, compression_algorithm: { zstd } }, { children: { backend } })
}

/** The bytes that a client gets that reads zstd. */
export const wire = async (store: Store, digest: Digest): Promise<Buffer> =>
  (await store.get(digest, { ...WHOLE, wantedAs: 'ZSTD' }, call)).as('ZSTD').bytes(1e9, call)

export const unpack = (bytes: Buffer): Promise<Buffer> =>
  Blob.ofPath([source(cut(bytes))], { encoding: 'ZSTD' })
    .as('IDENTITY')
    .bytes(1e9, call)

/** Uploads zstd, `bytes` as they are, as a CAS does. */
export const upload = async (
  store: Store,
  digest: Digest,
  bytes: Buffer,
  { sizes = [64 * KIB], signal = call.signal }: { sizes?: readonly number[]; signal?: AbortSignal } = {},
): Promise<void> => {
  const blob = Blob.ofPath([source(cut(bytes, sizes))], { encoding: 'ZSTD' }).as('IDENTITY', digest.sizeBytes)
  await store.put(digest, blob.verify(digest, { fault: 'client' }), { ...call, signal })
}
