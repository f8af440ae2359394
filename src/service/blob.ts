import type { Call } from '../base/call.js'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import type { Store } from '../store/store.js'
import { WHOLE } from '../stream/path.js'
import { collect } from '../stream/run.js'

/** A whole blob of a CAS, for blobs whose size the caller has bounded. NOT_FOUND when it is absent. */
export const readBlob = async (cas: Store, digest: Digest, call: Call): Promise<Buffer> => {
  const path = await cas.reader(digest, WHOLE, call)
  const bytes = await collect(path, { maxBytes: digest.sizeBytes, signal: call.signal })
  if (bytes.length === digest.sizeBytes) return bytes
  throw shortened(digest, bytes.length)
}

/** A backend that ends early without saying so: never success (a client takes fewer bytes for the end of the blob). */
export const shortened = (digest: Digest, foundBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `blob ${digest.key} ended after ${foundBytes} bytes, expected ${digest.sizeBytes}`)

/** How many blobs of one request are read or written at a time. */
export const BLOB_LANES = 16
