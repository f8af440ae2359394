import { allOf } from './all-of.js'

/** Requests or files of one call in flight together. They cover round trips, and one call leaves room to others. */
export const LANES = 16

/**
 * Maps with at most `limit` concurrent runs of `work`. Results keep the order of `items`. After the first failure no
 * further item is started, and the result rejects when those that were started have settled.
 */
export const boundedMap = async <T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results = new Array<R>(items.length)
  let next = 0
  let failed = false
  const lane = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++
      try {
        results[index] = await work(items[index] as T, index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await allOf(Array.from({ length: Math.min(limit, items.length) }, lane))
  return results
}
