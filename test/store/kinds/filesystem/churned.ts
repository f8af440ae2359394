import { type Clock, systemClock } from '../../../../src/base/clock.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, putAll } from '../../blobs.js'
import { type OpenFilesystem, openFilesystem } from './open.js'

const FILLERS_EACH = 3

/** Runs the background work every few milliseconds instead of every second. */
const eagerClock: Clock = { ...systemClock, every: (ms, tick) => systemClock.every(ms / 200, tick) }

/**
 * A file store of so many blobs that is full from the start: each upload evicts older blobs, and small segments are emptied meanwhile.
 */
export const openChurned = async (folder: string, fullCount: number): Promise<OpenFilesystem> => {
  let emptied = 0
  const log = textLog('debug', (line) => {
    if (line.includes('emptied a file of records')) emptied++
  })
  const policy = { max_count: fullCount }
  const files = await openFilesystem(folder, { clock: eagerClock, log, policy, segmentBytes: 16 * 1024 })
  const churned = new ChurnedStore(files.store)
  // Once: a second time would evict everything else.
  if (files.usage().entryCount === 0) await churned.churn(fullCount)
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await until(async () => {
      await churned.churn(100)
      return emptied > 0 && files.usage().evictedCount > 0
    }, 'that segments are emptied and blobs evicted')
    await files.close()
  }
  return { ...files, store: churned, close }
}

let fillerCount = 0

class ChurnedStore extends ForwardingStore {
  override async put(digest: Digest, blob: Blob, by: Call): Promise<void> {
    const churned = this.churn(FILLERS_EACH)
    await super.put(digest, blob, by)
    await churned
  }

  /** Uploads this many blobs, and removes every third of them. */
  async churn(count: number): Promise<void> {
    const blobs = Array.from({ length: count }, () => bytesOf(200, `filler ${fillerCount++}`))
    const outcomes = await putAll(
      this.backend,
      blobs.map((bytes) => ({ digest: digestOf(bytes), bytes })),
    )
    for (const failure of outcomes) if (failure !== undefined) throw failure
    const removed = blobs.filter((_, index) => index % 3 === 0)
    await Promise.all(removed.map((bytes) => this.backend.remove(digestOf(bytes), 'unwanted', call)))
  }
}
