import type { Config, StoreConfig } from '../config.js'
import type { Findings } from '../findings.js'
import type { Path } from '../read/path.js'

export type UncheckedConfig = Omit<Config, 'warnings'>

export interface LintContext {
  readonly config: UncheckedConfig
  readonly findings: Findings
  /** Path of a configuration object in the file. */
  readonly originOf: (value: object) => Path
  /**
   * Whether the configuration is complete. Otherwise a missing entry may have been dropped because of its
   * errors.
   */
  readonly isWhole: boolean
  /** Whether the file sets this value, so it is no default. */
  readonly isWritten: (path: Path) => boolean
}

/** Follows `ref_store` to the actual store; undefined if a name does not exist. */
export const storeBehind = (
  stores: Config['stores'],
  name: string,
  seen = new Set<string>(),
): StoreConfig | undefined => {
  const store = stores.get(name)
  if (store?.kind !== 'ref_store' || seen.has(name)) return store
  return storeBehind(stores, store.options.name, seen.add(name))
}
