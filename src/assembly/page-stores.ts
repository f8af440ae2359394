import { entryFor } from '../base/catch-all.js'
import type { ServerConfig } from '../config/config.js'
import type { PageStores, StoresOf } from '../pages/actions/stores.js'
import type { Parts } from './services.js'

/** What pages may read of an instance, from the first server that has it. */
export const pageStores =
  (servers: readonly ServerConfig[], parts: Parts): StoresOf =>
  (instance): PageStores | undefined => {
    const first = <T>(of: (services: ServerConfig['services']) => ReadonlyMap<string, T>): T | undefined =>
      servers.map(({ services }) => entryFor(of(services), instance)).find((entry) => entry !== undefined)
    const execution = first(({ execution: all }) => all)
    const casName = first(({ cas }) => cas)?.cas_store ?? execution?.cas_store
    if (casName === undefined) return undefined
    const acName = first(({ ac }) => ac)?.ac_store ?? execution?.ac_store
    return {
      cas: parts.viewOf(instance, parts.cas(casName)),
      results: acName === undefined ? undefined : parts.viewOf(instance, parts.ac(acName)),
    }
  }
