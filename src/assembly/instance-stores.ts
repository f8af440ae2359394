import { entryFor } from '../base/catch-all.js'
import { StatusError } from '../base/status-error.js'
import type { Config, StoreConfig } from '../config/config.js'

/** The stores of an instance in a configuration. */
export interface InstanceStores {
  readonly cas: StoreConfig
  /** Absent if the instance has no action cache. */
  readonly results: StoreConfig | undefined
  readonly casName: string
  readonly resultsName: string | undefined
}

/** The stores of an instance in a configuration. NOT_FOUND if no server offers its CAS. */
export const storesOf = ({ servers, stores }: Config, instance: string): InstanceStores => {
  const first = <T>(of: (server: Config['servers'][number]) => ReadonlyMap<string, T>): T | undefined =>
    servers.map((server) => entryFor(of(server), instance)).find((entry) => entry !== undefined)
  const casName = first(({ services }) => services.cas)?.cas_store
  const resultsName = first(({ services }) => services.ac)?.ac_store
  const cas = stores.get(casName ?? '')
  if (casName === undefined || cas === undefined) {
    const names = servers.flatMap(({ services }) => [...services.cas.keys()]).map((name) => JSON.stringify(name))
    const known = names.length === 0 ? 'there is none' : `expected one of ${[...new Set(names)].join(', ')}`
    throw new StatusError('NOT_FOUND', `no server has a CAS for the instance ${JSON.stringify(instance)}: ${known}`)
  }
  return { cas, results: stores.get(resultsName ?? ''), casName, resultsName }
}
