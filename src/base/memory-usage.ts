import { getHeapStatistics } from 'node:v8'
import { errnoOf } from './errno.js'

export interface MemoryUsage {
  /** Undefined if no descriptor is free: the kernel tells it in a file. */
  readonly residentBytes: number | undefined
  readonly heapBytes: number
  readonly externalBytes: number
}

/** Like `process.memoryUsage`, which throws if no descriptor is free. */
export const memoryUsage = (): MemoryUsage => {
  const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics()
  return { residentBytes: residentBytes(), heapBytes, externalBytes }
}

const residentBytes = (): number | undefined => {
  try {
    // biome-ignore lint/plugin: the guarded one is this one
    return process.memoryUsage.rss()
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}
