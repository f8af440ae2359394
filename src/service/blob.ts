import type { Call } from '../base/call.js'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import { readBytes, type Store } from '../store/store.js'

/** A whole blob of a CAS, for blobs whose size the caller has bounded. NOT_FOUND when it is absent. */
export const readBlob = async (cas: Store, digest: Digest, call: Call): Promise<Buffer> => {
  const bytes = await readBytes(cas, digest, digest.sizeBytes, call)
  if (bytes.length === digest.sizeBytes) return bytes
  throw shortened(digest, bytes.length)
}

/** A backend that ends early without saying so: never success (a client takes fewer bytes for the end of the blob). */
export const shortened = (digest: Digest, foundBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `blob ${digest.key} ended after ${foundBytes} bytes, expected ${digest.sizeBytes}`)

/** How many blobs of one request are read or written at a time. */
export const BLOB_LANES = 16
