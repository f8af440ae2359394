import { brotliCompressSync, deflateRawSync } from 'node:zlib'
import { compress } from './zstd.js'

// Compressed content for checks: valid frames and hostile ones.

export const zstdFrame = (bytes: Uint8Array, level = 3): Buffer => compress(bytes, level)

/** A frame that decoders must skip (RFC 8878 section 3.1.2). */
export const zstdSkippable = (payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(0x184d2a50)
  head.writeUInt32LE(payload.length, 4)
  return Buffer.concat([head, payload])
}

export const rawDeflate = (bytes: Uint8Array): Buffer => deflateRawSync(bytes)

export const brotli = (bytes: Uint8Array): Buffer => brotliCompressSync(bytes)
