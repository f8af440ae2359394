import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 allocate every object in the young generation, where an object of a call is freed cheaply. Otherwise V8
 * sooner or later allocates some objects directly in the old generation, because a few of their kind lived long. Each
 * of those keeps alive what it refers to until the next full collection. The bench case
 * `FindMissingBlobs(1) absent` guards this: without the flag 7.6 instead of 6.0 us of CPU a call, 141 instead of 106 MiB.
 */
export const keepObjectsYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring')
