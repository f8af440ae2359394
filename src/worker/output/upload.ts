import { createReadStream } from 'node:fs'
import { fileFailure } from '../../base/errno.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import { missingOf, type Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import { type Call, callWith } from '../../rpc/call.js'
import { Blob } from '../../stream/blob/blob.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import type { ClaimFile } from '../command/claim.js'
import type { HashedFile, OutputBlob } from './file.js'
import { handIn } from './hand-in.js'

const UNASKED_BYTES = 16 * 1024

export interface UploadOptions {
  /** Called when something has to be written. */
  readonly onUpload?: () => void
  readonly claim?: ClaimFile
}

/**
 * Puts blobs into the store, each once. Skips existing blobs, unless all are small. Rejects with DEADLINE_EXCEEDED
 * after `timeoutMs`.
 */
export const uploadBlobs = async (
  blobs: readonly OutputBlob[],
  store: Store,
  timeoutMs: number,
  call: Call,
  { onUpload = () => {}, claim = () => undefined }: UploadOptions = {},
): Promise<void> => {
  if (blobs.length === 0) return
  const byKey = new Map(blobs.map((blob) => [blob.digest.key, blob]))
  const wanted = await wantedOf([...byKey.values()], store, call)
  if (wanted.length === 0) return
  onUpload()
  await withDeadline(timeoutMs, call, async (limited) => {
    await Promise.all([
      putTogether(wanted, store, limited),
      boundedMap(wanted, LANES, async ({ digest, source }) => {
        if (!Buffer.isBuffer(source)) await putFile(digest, source, { store, claim }, limited)
      }),
    ])
  })
}

/**
 * The blobs to upload: the missing ones. If all are small, the store is not asked, because sending them is as fast as
 * the request.
 */
const wantedOf = async (blobs: readonly OutputBlob[], store: Store, call: Call): Promise<readonly OutputBlob[]> => {
  const bytes = blobs.reduce((sum, { source }) => sum + (Buffer.isBuffer(source) ? source.length : Infinity), 0)
  if (bytes <= UNASKED_BYTES) return blobs
  const digests = blobs.map(({ digest }) => digest)
  const missing = new Set((await missingOf(store, digests, call)).map(({ key }) => key))
  return blobs.filter(({ digest }) => missing.has(digest.key))
}

const putTogether = async (blobs: readonly OutputBlob[], store: Store, call: Call): Promise<void> => {
  const entries = blobs.flatMap(({ digest, source }) =>
    Buffer.isBuffer(source) ? [{ digest, blob: Blob.ofBytes(source) }] : [],
  )
  if (entries.length === 0) return
  const outcomes = await store.putAll(entries, call)
  for (const [at, failure] of outcomes.entries()) {
    if (failure !== undefined) throw notPut(entries[at]?.digest, failure)
  }
}

/** Moves the file into the store if the store has local files; else uploads its bytes. */
const putFile = async (
  digest: Digest,
  file: HashedFile,
  { store, claim }: { readonly store: Store; readonly claim: ClaimFile },
  call: Call,
): Promise<void> => {
  try {
    if (store.files !== undefined) await handIn(digest, file, { files: store.files, claim }, call)
    else {
      const { path, sizeBytes } = file
      const bytes = createReadStream(path, { highWaterMark: STAGE_BYTES })
      await store.put(digest, Blob.ofPath([bytes], { sizeBytes }), call)
    }
  } catch (error) {
    throw notPut(digest, error)
  }
}

/** A CAS reports a wrong digest as INVALID_ARGUMENT. Here that is no fault of the client, so it becomes INTERNAL. */
const notPut = (digest: Digest | undefined, error: unknown): StatusError => {
  if (!isStatus(error, 'INVALID_ARGUMENT')) return fileFailure(error, `upload of ${digest}`)
  return new StatusError('INTERNAL', `upload of ${digest}: the file changed meanwhile`, { cause: error })
}

const withDeadline = async (timeoutMs: number, call: Call, work: (call: Call) => Promise<unknown>): Promise<void> => {
  const late = new AbortController()
  const timer = guardedTimeout(() => {
    late.abort(new StatusError('DEADLINE_EXCEEDED', `the outputs could not be uploaded in ${timeoutMs / 1000} s`))
  }, timeoutMs)
  try {
    await work(callWith(call, { signal: AbortSignal.any([call.signal, late.signal]) }))
  } catch (error) {
    // A store may only report that it was cancelled.
    throw late.signal.aborted && !call.signal.aborted ? late.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}
