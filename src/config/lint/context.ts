import type { Config, StoreConfig } from '../config.js'
import type { Findings } from '../findings.js'
import type { Path } from '../read/path.js'

export type UncheckedConfig = Omit<Config, 'warnings'>

export interface LintContext {
  readonly config: UncheckedConfig
  readonly findings: Findings
  /** Where an object of the configuration stands in the file. */
  readonly originOf: (value: object) => Path
  /** Whether nothing had to be left out; otherwise what is missing may have been in what was. */
  readonly isWhole: boolean
  /** Whether the file itself says something here, rather than a default. */
  readonly isWritten: (path: Path) => boolean
}

/** The store behind a name, behind any number of `ref_store`; undefined for a name that leads nowhere. */
export const storeBehind = (
  stores: Config['stores'],
  name: string,
  seen = new Set<string>(),
): StoreConfig | undefined => {
  const store = stores.get(name)
  if (store?.kind !== 'ref_store' || seen.has(name)) return store
  return storeBehind(stores, store.options.name, seen.add(name))
}
