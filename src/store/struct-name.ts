import type { StoreConfig } from '../config/config.js'
import { kinds } from './kinds/kinds.js'

/** The class of a store in health reports; for a reference, that of the store it names. `configs` has no cycle. */
export const structNameOf = (config: StoreConfig, configs: ReadonlyMap<string, StoreConfig>): string => {
  const named = config.kind === 'ref_store' ? configs.get(config.options.name) : undefined
  return named === undefined ? kinds[config.kind].structName : structNameOf(named, configs)
}
