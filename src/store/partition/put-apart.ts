import type { BlobEntry, Outcomes } from '../contract/store.js'

/**
 * Splits `entries` by `wayOf` and puts each group in one call, all groups at the same time. Returns the outcomes in the
 * order of `entries`. Rejects when one group does.
 */
export const putApart = async <Way>(
  entries: readonly BlobEntry[],
  wayOf: (entry: BlobEntry, at: number) => Way,
  put: (way: Way, entries: readonly BlobEntry[]) => Promise<Outcomes>,
): Promise<Outcomes> => {
  const ways = new Map<Way, number[]>()
  for (const [at, entry] of entries.entries()) {
    const way = wayOf(entry, at)
    const indexes = ways.get(way)
    if (indexes === undefined) ways.set(way, [at])
    else indexes.push(at)
  }
  const outcomes: Outcomes[number][] = new Array(entries.length)
  const putting = [...ways].map(async ([way, indexes]) => {
    const kept = await put(
      way,
      indexes.map((at) => entries[at] as BlobEntry),
    )
    for (const [index, at] of indexes.entries()) outcomes[at] = kept[index]
  })
  await Promise.all(putting)
  return outcomes
}
