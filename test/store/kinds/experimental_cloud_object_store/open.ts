import { type Clock, systemClock } from '../../../../src/base/clock.js'
import type { HealthProbe } from '../../../../src/base/health.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { ExperimentalCloudObjectStoreOptions as Options } from '../../../../src/config/config.js'
import { type Log, silentLog } from '../../../../src/log/log.js'
import { experimentalCloudObjectStore } from '../../../../src/store/kinds/experimental_cloud_object_store/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { buildStore } from '../../build.js'

export const DEFAULTS = {
  resumable_chunk_size: 2_000_000,
  authentication_required: false,
  connection_timeout_s: 3,
  read_timeout_s: 30,
  retry: { max_retries: 0, delay: 0, jitter: 0, budget_s: 60 },
  consider_expired_after_s: 0,
  lifecycle_days: 0,
  multipart_max_concurrent_uploads: 10,
  insecure_allow_http: true,
}

export type OpenOptions = Pick<Options, 'provider'> & Partial<Options>

export interface OpenObjectStore {
  readonly store: Store
  /** Of its connection. */
  readonly probe: HealthProbe
  close(): Promise<void>
}

let opened = 0

/** A store under a unique prefix in its bucket, unless `key_prefix` gives one. */
export const openObjectStore = async (
  options: OpenOptions,
  clock: Clock = systemClock,
  log: Log = silentLog,
): Promise<OpenObjectStore> => {
  const resources = new Resources(silentLog)
  const probes: HealthProbe[] = []
  const store = await buildStore(
    experimentalCloudObjectStore,
    { ...DEFAULTS, key_prefix: `test-${process.pid}-${opened++}/`, ...options },
    { clock, log, resources, watch: (probe) => probes.push(probe) },
  )
  const [probe] = probes
  if (probe === undefined) throw new Error('its connection is not watched')
  return { store, probe, close: () => resources.close() }
}
