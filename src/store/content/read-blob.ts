import type { Call } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import type { Blob } from '../../stream/blob/blob.js'
import { type Range, WHOLE } from '../../stream/path.js'
import type { Store } from '../store.js'

/** A whole blob of a CAS, for blobs whose size the caller has bounded. NOT_FOUND when it is absent. */
export const readBlob = async (cas: Store, digest: Digest, call: Call): Promise<Buffer> =>
  allBytes(await cas.get(digest, WHOLE, call), digest, WHOLE, call)

/** The bytes of a part whose size the caller has bounded. */
export const allBytes = async (blob: Blob, digest: Digest, { offset, limit }: Range, call: Call): Promise<Buffer> => {
  const maxBytes = Math.min(digest.sizeBytes - offset, limit)
  const bytes = await blob.bytes(maxBytes, call)
  if (bytes.length === maxBytes) return bytes
  throw shortened(digest, offset + bytes.length)
}

/** A backend that ends early without saying so: never success (a client takes fewer bytes for the end of the blob). */
export const shortened = (digest: Digest, foundBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `blob ${digest.key} ended after ${foundBytes} bytes, expected ${digest.sizeBytes}`)

/** How many blobs of one request are read or written at a time. */
export const BLOB_LANES = 16
