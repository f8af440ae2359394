import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import type { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import type { Blob } from '../stream/blob/blob.js'
import { chunksOf } from '../stream/blob/chunks.js'
import { type Range, WHOLE } from '../stream/path.js'

/** Reads a whole blob of a CAS. The caller must have bounded its size. NOT_FOUND when it is absent. */
export const readBlob = async (cas: Store, digest: Digest, call: Call): Promise<Buffer> =>
  allBytes(await cas.get(digest, WHOLE, call), digest, WHOLE, call)

/** Reads a range of a blob. The caller must have bounded its size. */
export const allBytes = async (blob: Blob, digest: Digest, { offset, limit }: Range, call: Call): Promise<Buffer> => {
  const maxBytes = Math.min(digest.sizeBytes - offset, limit)
  const bytes = await blob.bytes(maxBytes, call)
  if (bytes.length === maxBytes) return bytes
  throw shortened(digest, offset + bytes.length)
}

/** The bytes of a whole blob as they come, for readers that keep none. Ending the iteration early discards the rest. */
export async function* chunksOfBlob(cas: Store, digest: Digest, call: Call): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const chunk of chunksOf(await cas.get(digest, WHOLE, call), call.signal)) {
    sizeBytes += chunk.length
    yield chunk
  }
  if (sizeBytes < digest.sizeBytes) throw shortened(digest, sizeBytes)
}

/** The error for a backend that ends a blob early without an error. A client would take the short blob for complete. */
export const shortened = (digest: Digest, foundBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `blob ${digest.key} ended after ${foundBytes} bytes, expected ${digest.sizeBytes}`)
