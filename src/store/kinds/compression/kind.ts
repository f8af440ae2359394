import type { CompressionOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'
import { CompressionStore, lz4Parts, zstdParts } from './compressed-store.js'

/** Stores blobs compressed in its backend: see CompressionStore. */
export const compression: StoreKind<CompressionOptions> = {
  threads: () => oneForAll('service threads do not run this stage'),
  promise: ({ backend }, below) => below.child(backend),
  build: async ({ backend, compression_algorithm: algorithm }, context) => {
    const parts = 'zstd' in algorithm ? zstdParts(algorithm.zstd) : lz4Parts(algorithm.lz4)
    return new CompressionStore(await context.child(backend, 'backend'), parts)
  },
}
