import type { CompressionOptions } from '../../config/config.js'
import type { StoreKind } from '../kind.js'

/** Compresses blobs on the way into its backend: see CompressionStore. */
export const compression: StoreKind<CompressionOptions> = {
  build: async ({ backend, compression_algorithm: algorithm }, context) => {
    // The native code of lz4 takes 30 ms to load, which only who configures this kind should pay.
    const { CompressionStore, lz4Parts, zstdParts } = await import('../compression/compressed-store.js')
    const parts = 'zstd' in algorithm ? zstdParts(algorithm.zstd) : lz4Parts(algorithm.lz4)
    return new CompressionStore(await context.child(backend, 'backend'), parts)
  },
}
