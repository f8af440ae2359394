import type { CompressionOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { CompressionStore, lz4Parts, zstdParts } from './compressed-store.js'

/** Stores blobs compressed in its backend: see CompressionStore. */
export const compression: StoreKind<CompressionOptions> = {
  promise: ({ backend }, below) => below.child(backend),
  build: async ({ backend, compression_algorithm: algorithm }, context) => {
    const parts = 'zstd' in algorithm ? zstdParts(algorithm.zstd) : lz4Parts(algorithm.lz4)
    return new CompressionStore(await context.child(backend, 'backend'), parts)
  },
}
