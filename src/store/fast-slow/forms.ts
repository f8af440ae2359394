import type { Call } from '../../base/call.js'
import type { CompressorName } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { compressionOf } from '../../stream/compression/compression.js'
import { type ReadPath, WHOLE, type WritePath } from '../../stream/path.js'
import { Verify } from '../../stream/verify.js'
import type { Store } from '../store.js'

/** Whole blobs of a store, in one form. */
export interface WholeBlobs {
  reader(digest: Digest, call: Call): Promise<ReadPath>
  writer(digest: Digest, call: Call): Promise<WritePath>
}

/** Both tiers in the same form, so that the bytes of one fit the other. */
export interface Tiers {
  readonly fast: WholeBlobs
  readonly slow: WholeBlobs
}

export const asKept = (store: Store): WholeBlobs => ({
  reader: (digest, call) => store.reader(digest, WHOLE, call),
  writer: (digest, call) => store.writer(digest, call),
})

/** Blobs compressed: as the store keeps them where it keeps them so, else made on the way. */
export const asCompressed = (
  store: Store,
  compressor: CompressorName,
  { checksUploads }: { readonly checksUploads: boolean },
): WholeBlobs => {
  if (store.compressed?.compressor === compressor) return store.compressed
  const { compress, decompress } = compressionOf({ name: compressor })
  return {
    reader: async (digest, call) => [...(await store.reader(digest, WHOLE, call)), compress()],
    writer: async (digest, call) => {
      const path = await store.writer(digest, call)
      const checks = checksUploads && store.checksUploads !== true
      return checks ? [decompress(), new Verify(digest, { fault: 'client' }), ...path] : [decompress(), ...path]
    },
  }
}
