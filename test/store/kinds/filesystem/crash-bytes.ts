import { putBytes } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import { callWith } from '../../../../src/rpc/call.js'
import { call, digestOf, isPresent, putAll, putStream, source } from '../../blobs.js'
import { fastClock, hotAt, ROUND_BLOBS, roundOf, type WriterOptions, type WriterReport } from './kill.js'
import { openFilesystem } from './open.js'

/**
 * A separate process that writes rounds of blobs until it is killed, and reports each round that the store has
 * acknowledged: small blobs in batches, a large one, and one of a few keys whose blob is replaced or removed. It keeps some older
 * blobs in use, so that segments die in any order.
 */
const { folder, from, durability, maxCount, segmentBytes, beganMs } = JSON.parse(
  process.argv[2] ?? '{}',
) as WriterOptions

const seen = { emptied: 0, copiedBlobs: 0, copiedRemovals: 0, movedBlobs: 0 }
const valueIn = (line: string, name: string): number => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? 0)
const log = textLog('debug', (line) => {
  if (line.includes('emptied a pack')) seen.movedBlobs += valueIn(line, 'blobs')
  if (!line.includes('emptied a file of records')) return
  seen.emptied++
  seen.copiedBlobs += valueIn(line, 'blobs')
  seen.copiedRemovals += valueIn(line, 'removals')
})
const parts = { durability, segmentBytes, log, clock: fastClock(beganMs), policy: { max_count: maxCount } }
const { store, usage } = await openFilesystem(folder, parts)
const report = (written: number): void => {
  const message: WriterReport = { written, evicted: usage().evictedCount, ...seen }
  // Whoever watched it is gone.
  process.send?.(message, (error: Error | null) => error !== null && process.exit())
}
report(from)
// biome-ignore lint/plugin: a writer that is killed
for (let number = from; ; number += ROUND_BLOBS) {
  const { small, pieces, large, keyed } = roundOf(number)
  const streamed = putStream(store, digestOf(large), source([large]))
  if (number % 100 === 0) await Promise.all(small.map((bytes) => putBytes(store, digestOf(bytes), bytes, call)))
  else {
    const entries = small.map((bytes) => ({ digest: digestOf(bytes), bytes }))
    for (const failure of await putAll(store, entries)) if (failure !== undefined) throw failure
  }
  const together = callWith(call, { together: {} })
  const parts = pieces.map((bytes) => ({ digest: digestOf(bytes), bytes }))
  for (const failure of await putAll(store, parts, together)) if (failure !== undefined) throw failure
  await streamed
  await store.put(keyed.digest, keyed.blob(), call)
  for (const bytes of hotAt(number)) {
    const digest = digestOf(bytes)
    if (!(await isPresent(store, digest))) await putBytes(store, digest, bytes, call)
  }
  if (keyed.isRemoved) await store.remove(keyed.digest, 'unwanted', call)
  report(number + ROUND_BLOBS)
}
