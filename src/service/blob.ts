import type { Call } from '../base/call.js'
import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'
import { readBytes, type Store } from '../store/store.js'
import { isWhole, type Range, WHOLE } from '../stream/path.js'
import { collect } from '../stream/run.js'

/** A whole blob of a CAS, for blobs whose size the caller has bounded. NOT_FOUND when it is absent. */
export const readBlob = (cas: Store, digest: Digest, call: Call): Promise<Buffer> => readPart(cas, digest, WHOLE, call)

/** A part whose size the caller has bounded: it needs neither a pipeline nor, when it is the whole blob, stages. */
export const readPart = async (cas: Store, digest: Digest, range: Range, call: Call): Promise<Buffer> => {
  const maxBytes = Math.min(digest.sizeBytes - range.offset, range.limit)
  const bytes = isWhole(range, digest.sizeBytes)
    ? await readBytes(cas, digest, maxBytes, call)
    : await collect(await cas.reader(digest, range, call), { maxBytes, signal: call.signal })
  if (bytes.length === maxBytes) return bytes
  throw shortened(digest, range.offset + bytes.length)
}

/** A backend that ends early without saying so: never success (a client takes fewer bytes for the end of the blob). */
export const shortened = (digest: Digest, foundBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `blob ${digest.key} ended after ${foundBytes} bytes, expected ${digest.sizeBytes}`)

/** How many blobs of one request are read or written at a time. */
export const BLOB_LANES = 16
