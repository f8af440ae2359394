import type { BlobEntry, Outcomes } from '../../blobs/store.js'
import { allOf } from '../../work/all-of.js'

/**
 * Splits `entries` by `wayOf` and puts each group in one call, all groups at the same time. Returns the outcomes in the
 * order of `entries`. Rejects if one group does, after all have settled: they read bytes of the caller.
 */
export const putInGroups = async <Group>(
  entries: readonly BlobEntry[],
  groupOf: (entry: BlobEntry, at: number) => Group,
  put: (group: Group, entries: readonly BlobEntry[]) => Promise<Outcomes>,
): Promise<Outcomes> => {
  const groups = new Map<Group, number[]>()
  for (const [at, entry] of entries.entries()) {
    const group = groupOf(entry, at)
    const indexes = groups.get(group)
    if (indexes === undefined) groups.set(group, [at])
    else indexes.push(at)
  }
  const outcomes: Outcomes[number][] = new Array(entries.length)
  const putting = [...groups].map(async ([group, indexes]) => {
    const kept = await put(
      group,
      indexes.map((at) => entries[at] as BlobEntry),
    )
    for (const [index, at] of indexes.entries()) outcomes[at] = kept[index]
  })
  await allOf(putting)
  return outcomes
}
