import type { BuildEventsServiceOptions, ExperimentalBepServiceOptions, StoreConfig } from '../config.js'
import type { Findings } from '../findings.js'
import type { Origins } from '../schema/origins.js'
import { defaultNumber } from '../schema/schema.js'
import { withNested } from '../store-path.js'

const FILE = 'service/build_events.json'

/**
 * The settings of build events: their own, or for `experimental_bep` those of the file store that it names. Events are
 * appended to files, which no store offers, so they get a folder beside that of the store.
 */
export const buildEventsOf = (
  written: {
    readonly build_events?: BuildEventsServiceOptions
    readonly experimental_bep?: ExperimentalBepServiceOptions
  },
  stores: ReadonlyMap<string, StoreConfig>,
  origins: Origins,
  findings: Findings,
): BuildEventsServiceOptions | undefined => {
  const { build_events: own, experimental_bep: bep } = written
  if (bep === undefined) return own
  const path = [...origins.of(bep), 'store']
  if (own !== undefined) {
    findings.error(path, 'experimental_bep and build_events are the same service', { expected: 'one of them' })
    return own
  }
  if (findings.isWrong(path)) return undefined
  const files = fileStoreIn(bep.store, stores)
  if (files === undefined) {
    findings.error(path, `the store ${JSON.stringify(bep.store)} keeps no files, and build events are kept in files`, {
      found: JSON.stringify(bep.store),
      expected: 'a store with a filesystem store in it, or build_events with a path',
    })
    return undefined
  }
  const { max_bytes, max_seconds, max_count } = files.eviction_policy
  const number = (key: string): number => defaultNumber(FILE, key)
  const derived: BuildEventsServiceOptions = {
    path: `${files.content_path.replace(/\/+$/, '')}-build-events`,
    max_bytes: max_bytes || number('max_bytes'),
    max_age_s: max_seconds || number('max_age_s'),
    max_invocations: max_count || number('max_invocations'),
    max_invocation_bytes: number('max_invocation_bytes'),
    max_silence_s: number('max_silence_s'),
  }
  return origins.record(derived, origins.of(bep))
}

const fileStoreIn = (
  name: string,
  stores: ReadonlyMap<string, StoreConfig>,
  seen = new Set<string>(),
): FileStore | undefined => {
  const store = stores.get(name)
  if (store === undefined || seen.has(name)) return undefined
  seen.add(name)
  for (const nested of withNested(store)) {
    if (nested.kind === 'filesystem') return nested.options
    const found = nested.kind === 'ref_store' ? fileStoreIn(nested.options.name, stores, seen) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

type FileStore = Extract<StoreConfig, { readonly kind: 'filesystem' }>['options']
