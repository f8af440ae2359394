import type { BlobEntry, Outcomes } from './store.js'

/**
 * `putAll` of blobs that do not all go the same way: those of each way are put together, all ways at a time. Answers what became
 * of them in the order of `entries`; rejects when one way does.
 */
export const putApart = async <Way>(
  entries: readonly BlobEntry[],
  wayOf: (entry: BlobEntry, at: number) => Way,
  put: (way: Way, entries: readonly BlobEntry[]) => Promise<Outcomes>,
): Promise<Outcomes> => {
  const ways = new Map<Way, number[]>()
  for (const [at, entry] of entries.entries()) {
    const way = wayOf(entry, at)
    const places = ways.get(way)
    if (places === undefined) ways.set(way, [at])
    else places.push(at)
  }
  const outcomes: Outcomes[number][] = new Array(entries.length)
  const putting = [...ways].map(async ([way, places]) => {
    const kept = await put(
      way,
      places.map((at) => entries[at] as BlobEntry),
    )
    for (const [index, at] of places.entries()) outcomes[at] = kept[index]
  })
  await Promise.all(putting)
  return outcomes
}
