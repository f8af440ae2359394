import { compressSync, uncompressSync } from 'lz4-napi'
import type { CompressContext } from '../../../stream/compression/libzstd.js'
import { zstdCompress } from '../../../stream/compression/zstd.js'
import type { ContextPool } from '../../../stream/compression/zstd-context.js'
import { corrupt, type Header, LENGTH_PREFIX_BYTES, MIN_BLOCK_BYTES } from './container.js'

/** How a block becomes a record. */
export interface BlockFormat {
  readonly header: Header
  compress(block: Buffer): { readonly kind: 'raw' | 'compressed'; readonly parts: readonly Buffer[] }
}

/** 24 microseconds inline for 64 KiB of text, 76 for noise. Of a short block, as most results are, records would take what it saves. */
export const lz4Blocks = (blockBytes: number): BlockFormat => ({
  header: { algorithm: 'lz4', blockBytes },
  compress: (block) => {
    if (block.length < MIN_BLOCK_BYTES) return { kind: 'raw', parts: [block] }
    const compressed = compressSync(block)
    if (compressed.length < block.length) return { kind: 'compressed', parts: [compressed] }
    return { kind: 'raw', parts: [block] }
  },
})

/** Incompressible bytes are stored raw inside their frame, so that a zstd read needs no new frame. */
export const zstdBlocks = (blockBytes: number, contexts: ContextPool<CompressContext>): BlockFormat => ({
  header: { algorithm: 'zstd', blockBytes },
  compress: (block) => {
    const length = Buffer.allocUnsafe(LENGTH_PREFIX_BYTES)
    length.writeUInt32LE(block.length)
    return { kind: 'compressed', parts: [length, zstdCompress(block, contexts)] }
  },
})

/** The library allocates the decoded length at the start of the bytes: the caller must have checked it. */
export const uncompressLz4 = (payload: Buffer): Buffer => {
  try {
    return uncompressSync(payload)
  } catch (cause) {
    throw corrupt('a block cannot be decoded', cause)
  }
}
