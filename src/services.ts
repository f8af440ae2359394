import type { Clock } from './base/clock.js'
import type { Log } from './base/log.js'
import type { Service } from './base/rpc.js'
import type { GlobalOptions, ServerConfig } from './config/config.js'
import { type DigestFunction, digestFunctions } from './reapi/digest-function.js'
import type { Scheduler } from './scheduler/scheduler.js'
import type { AcInstance } from './service/action-cache/options.js'
import { actionCacheService } from './service/action-cache/service.js'
import { byteStreamService } from './service/bytestream/service.js'
import type { Uploads } from './service/bytestream/uploads.js'
import { type CapabilitiesInstance, capabilitiesService } from './service/capabilities.js'
import { casService } from './service/cas/service.js'
import type { CasInstance } from './service/instance.js'
import type { Store } from './store/store.js'

/** What the services of every server of the process share. */
export interface Parts {
  readonly global: GlobalOptions
  /** A named store as it is: where action results are. */
  store(name: string): Store
  /** A named store as a CAS. Always the same object for the same name, so that uploads to it know of each other. */
  cas(name: string): Store
  scheduler(name: string): Scheduler
  readonly uploads: Uploads
  readonly clock: Clock
  readonly log: Log
}

/** Announced and enforced (decisions: no batch and no response above the 4 MiB that gRPC clients accept by default). */
const MAX_BATCH_BYTES = 4 * 1024 * 1024
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
/** No limit of our own: the store decides what fits. */
const MAX_BLOB_BYTES = 0

/** The functions clients may use, the default one first. */
export const servedFunctions = ({
  digest_functions,
  default_digest_hash_function,
}: GlobalOptions): DigestFunction[] => [
  digestFunctions[default_digest_hash_function],
  ...digest_functions.filter((name) => name !== default_digest_hash_function).map((name) => digestFunctions[name]),
]

/** The gRPC services one server of the configuration offers. */
export const servicesOf = (server: ServerConfig, parts: Parts): Service[] => {
  const served = servedFunctions(parts.global)
  const { cas, ac, bytestream, capabilities } = server.services
  const casInstance = (cas_store: string): CasInstance => ({
    cas: parts.cas(cas_store),
    digestFunctions: served,
    maxBlobBytes: MAX_BLOB_BYTES,
  })
  const casInstances = mapValues(cas, ({ cas_store }) => casInstance(cas_store))
  const acInstances = mapValues(
    ac,
    ({ ac_store, read_only }, instance): AcInstance => ({
      ac: parts.store(ac_store),
      cas: casInstances.get(instance)?.cas,
      digestFunctions: served,
      isReadOnly: read_only,
    }),
  )
  const byteStreamInstances = mapValues(bytestream, ({ cas_store }) => casInstance(cas_store))
  const capabilitiesInstances = mapValues(
    capabilities,
    (_, instance): CapabilitiesInstance => ({
      digestFunctions: served,
      cache:
        casInstances.has(instance) || acInstances.has(instance)
          ? {
              isUpdateEnabled: acInstances.get(instance)?.isReadOnly === false,
              maxBatchBytes: MAX_BATCH_BYTES,
              maxBlobBytes: MAX_BLOB_BYTES,
            }
          : undefined,
      execution: undefined,
    }),
  )
  return [
    capabilitiesService(capabilitiesInstances),
    casService({ instances: casInstances, maxBatchBytes: MAX_BATCH_BYTES, maxResponseBytes: MAX_RESPONSE_BYTES }),
    actionCacheService({ instances: acInstances, maxResponseBytes: MAX_RESPONSE_BYTES }),
    byteStreamService({ instances: byteStreamInstances, uploads: parts.uploads }),
  ]
}

const mapValues = <V, W>(map: ReadonlyMap<string, V>, change: (value: V, key: string) => W): Map<string, W> =>
  new Map([...map].map(([key, value]) => [key, change(value, key)]))
