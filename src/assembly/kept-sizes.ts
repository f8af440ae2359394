import type { KeptSizes, StoreUsage } from '../blobs/meter.js'
import type { StoreConfig } from '../config/config.js'
import { nestedStores } from '../config/store-path.js'

/** The usage of each store that keeps blobs itself, by its path. */
export type Usages = Map<string, () => StoreUsage | undefined>

/**
 * What the named stores keep together; undefined if none keeps blobs itself. Of a `fast_slow` only one tier counts: slow if it
 * keeps blobs in this process, because fast then holds copies.
 */
export const keptSizes = (
  names: readonly string[],
  configs: ReadonlyMap<string, StoreConfig>,
  usages: Pick<Usages, 'get'>,
): KeptSizes | undefined => {
  const told = new Set<string>()
  const found: StoreUsage[] = []
  let isAsUploaded = true
  const namedUsages = (name: string): readonly StoreUsage[] => {
    const config = configs.get(name)
    if (config === undefined || told.has(name)) return []
    told.add(name)
    return usagesAt(config, name)
  }
  const usagesAt = (config: StoreConfig, path: string): readonly StoreUsage[] => {
    if (config.kind === 'ref_store') return namedUsages(config.options.name)
    if (config.kind === 'compression' || config.kind === 'dedup') isAsUploaded = false
    const own = usages.get(path)?.()
    if (own !== undefined) return [own]
    const below = nestedStores(config).map(([key, nested]) => [key, usagesAt(nested, `${path}/${key}`)] as const)
    const slow = config.kind === 'fast_slow' ? below.find(([key]) => key === 'slow')?.[1] : undefined
    return slow !== undefined && slow.length > 0 ? slow : below.flatMap(([, usage]) => usage)
  }
  for (const name of names) found.push(...namedUsages(name))
  if (found.length === 0) return undefined
  const sum = (read: (usage: StoreUsage) => number): number => found.reduce((total, usage) => total + read(usage), 0)
  return {
    isAsUploaded,
    sizeBytes: sum(({ sizeBytes }) => sizeBytes),
    entryCount: sum(({ entryCount }) => entryCount),
    maxBytes: found.some(({ maxBytes }) => maxBytes === undefined) ? undefined : sum(({ maxBytes }) => maxBytes ?? 0),
  }
}
