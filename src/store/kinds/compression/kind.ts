import type { Store } from '../../../blobs/store.js'
import type { CompressionOptions } from '../../../config/config.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'
import { CompressionStore, lz4Parts, zstdParts } from './compressed-store.js'

const stage = async (
  { backend, compression_algorithm: algorithm }: CompressionOptions,
  { child }: StageContext,
): Promise<Store> => {
  const parts = 'zstd' in algorithm ? zstdParts(algorithm.zstd) : lz4Parts(algorithm.lz4)
  return new CompressionStore(await child(backend, 'backend'), parts)
}

/** Stores blobs compressed in its backend: see CompressionStore. */
export const compression: StoreKind<CompressionOptions> = {
  threads: ({ backend }, below) => below.stage({ backend: below.child(backend, 'backend') }),
  promise: ({ backend }, below) => below.child(backend),
  build: stage,
  stage,
}
