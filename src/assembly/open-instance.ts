import type { Clock } from '../base/clock.js'
import type { Store } from '../blobs/store.js'
import type { Config } from '../config/config.js'
import { DirectoryTrees } from '../content/directory-trees.js'
import type { Log } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { foundByHash } from '../service/http-cache/hash-sizes.js'
import { buildStores } from '../store/builder.js'
import { asCas } from '../store/view/cas.js'
import { asKeyed } from '../store/view/keyed.js'
import { Resources } from '../work/resources.js'
import { hashClientsOf } from './http-caches.js'
import { storesOf } from './instance-stores.js'
import { Instances } from './instances.js'
import { servedFunctions } from './services.js'

/** The stores of an instance, opened without a server. */
export interface OpenInstance {
  readonly cas: Store
  readonly results: Store | undefined
  readonly digestFunctions: readonly DigestFunction[]
  readonly trees: DirectoryTrees
  close(): Promise<void>
}

export interface OpenParts {
  readonly clock: Clock
  readonly log: Log
  readonly secrets: SecretLearner
}

/** Opens every store of a configuration and locks their folders: fails while a server uses them. */
export const openInstance = async (config: Config, instance: string, parts: OpenParts): Promise<OpenInstance> => {
  const { casName, resultsName } = storesOf(config, instance)
  const resources = new Resources(parts.log)
  try {
    const stores = await buildStores(config.stores, { ...parts, resources, watch: () => {} })
    const instances = new Instances(config.instances, parts.clock)
    const view = (name: string, as: (store: Store) => Store): Store =>
      instances.viewOf(instance, as(stores.get(name) as Store))
    const cas = view(casName, asCas)
    // Clients of HTTP find results that are written here, too.
    const readsOlder = config.security === undefined
    const resultsOf = (ac: Store): Store =>
      hashClientsOf(config)(instance) ? foundByHash({ ac, cas, readsOlder }) : ac
    return {
      cas,
      results: resultsName === undefined ? undefined : resultsOf(view(resultsName, asKeyed)),
      digestFunctions: servedFunctions(config.global),
      trees: new DirectoryTrees(),
      close: () => resources.close(),
    }
  } catch (error) {
    await resources.close()
    throw error
  }
}
