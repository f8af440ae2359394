/**
 * Maps with at most `limit` runs of `work` under way; results keep the order of `items`. The first failure rejects, and
 * no further item is started after it.
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
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  return results
}
