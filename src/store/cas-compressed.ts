import { Readable } from 'node:stream'
import { compressionOf } from '../stream/compression/compression.js'
import { Verify } from '../stream/verify.js'
import { Drain } from './drain.js'
import type { CompressedBlobs } from './store.js'

/** Compressed blobs, among them the empty blob, which no store keeps: no frames are no bytes. */
export const compressedCas = (blobs: CompressedBlobs): CompressedBlobs => ({
  compressor: blobs.compressor,
  reader: async (digest, call) =>
    digest.isEmpty ? [Readable.from([], { objectMode: false })] : blobs.reader(digest, call),
  writer: async (digest, call) =>
    digest.isEmpty
      ? [compressionOf({ name: blobs.compressor }).decompress(), new Verify(digest, { fault: 'client' }), new Drain()]
      : blobs.writer(digest, call),
})
