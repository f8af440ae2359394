import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { guardedInterval } from '../base/timers.js'

/** How much the old generation may grow after a full collection, in percent of what is alive. V8's own maximum. */
const GROWING_PERCENT = 300
/** Of a heap that uses more, V8 decides: four times as much would take the memory of others. */
const SMALL_HEAP_BYTES = 128 * 1024 * 1024
const PERIOD_MS = 10_000

/** Sets how V8 manages the heap of a process that serves. The measurements are in docs/performance.md. */
export const prepareHeap = (): void => {
  keepObjectsYoung()
  giveRoom()
  guardedInterval(giveRoom, PERIOD_MS).unref()
}

/**
 * Makes V8 allocate every object in the young generation, where an object of a call is freed cheaply. Otherwise V8
 * sooner or later allocates some objects directly in the old generation, because a few of their kind lived long. Each
 * of those keeps alive what it refers to until the next full collection. The bench case
 * `FindMissingBlobs(1) absent` guards this: without the flag 7.6 instead of 6.0 us of CPU a call, 141 instead of 106 MiB.
 */
const keepObjectsYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring')

/**
 * Lets a small heap grow before V8 collects it as a whole. V8 counts the bytes of Buffers that have been allocated since
 * its last full collection, even those that are free again, and begins another when they and the heap come near a limit.
 * It sets that limit after each collection, by its speed, to between 16 MiB more than what is alive and four times as
 * much. A process that got a low limit once got it again after each collection: it collected 20 MiB of heap for each
 * 15 MiB that it transferred. Those processes took twice the CPU for a Read of 1 MiB as zstd, and three times for a PUT.
 */
const giveRoom = (): void => {
  const isSmall = getHeapStatistics().used_heap_size < SMALL_HEAP_BYTES
  setFlagsFromString(`--heap-growing-percent=${isSmall ? GROWING_PERCENT : 0}`)
}
