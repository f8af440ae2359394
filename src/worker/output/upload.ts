import { createReadStream } from 'node:fs'
import { type Call, callWith } from '../../base/call.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { boundedMap } from '../../base/work/bounded-map.js'
import { missingOf, type Store } from '../../store/store.js'
import { Blob } from '../../stream/blob/blob.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { fsFailure } from '../disk/fs-failure.js'
import type { OutputBlob } from './file.js'

const PARALLEL_UPLOADS = 16

/**
 * Puts blobs into the store, only those that are missing, each once. Rejects with DEADLINE_EXCEEDED after `timeoutMs`.
 * `onUpload` is called once something has to be written.
 */
export const uploadBlobs = async (
  blobs: readonly OutputBlob[],
  store: Store,
  timeoutMs: number,
  call: Call,
  onUpload: () => void = () => {},
): Promise<void> => {
  if (blobs.length === 0) return
  const byKey = new Map(blobs.map((blob) => [blob.digest.key, blob]))
  const digests = [...byKey.values()].map(({ digest }) => digest)
  const missing = new Set((await missingOf(store, digests, call)).map(({ key }) => key))
  if (missing.size === 0) return
  onUpload()
  await withDeadline(timeoutMs, call, (limited) =>
    boundedMap([...missing], PARALLEL_UPLOADS, async (key) => {
      const blob = byKey.get(key)
      if (blob !== undefined) await upload(blob, store, limited)
    }),
  )
}

const upload = async ({ digest, source }: OutputBlob, store: Store, call: Call): Promise<void> => {
  try {
    const { sizeBytes } = digest
    const file = (path: string): Blob =>
      Blob.ofPath([createReadStream(path, { highWaterMark: STAGE_BYTES })], { sizeBytes })
    await store.put(digest, typeof source === 'string' ? file(source) : Blob.ofBytes(source), call)
  } catch (error) {
    // A CAS refuses bytes that are not those of the digest; here the client has no part in it.
    if (!isStatus(error, 'INVALID_ARGUMENT')) throw fsFailure(error, `upload of ${digest}`)
    throw new StatusError('INTERNAL', `upload of ${digest}: the file changed meanwhile`, { cause: error })
  }
}

const withDeadline = async (timeoutMs: number, call: Call, work: (call: Call) => Promise<unknown>): Promise<void> => {
  const late = new AbortController()
  const timer = setTimeout(() => {
    late.abort(new StatusError('DEADLINE_EXCEEDED', `the outputs could not be uploaded in ${timeoutMs / 1000} s`))
  }, timeoutMs)
  try {
    await work(callWith(call, { signal: AbortSignal.any([call.signal, late.signal]) }))
  } finally {
    clearTimeout(timer)
  }
}
