import { systemClock } from '../../../../src/base/clock.js'
import type { HealthProbe } from '../../../../src/base/health.js'
import type { ExperimentalMongoOptions } from '../../../../src/config/config.js'
import { silentLog } from '../../../../src/log/log.js'
import { experimentalMongo } from '../../../../src/store/kinds/experimental_mongo/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { buildStore } from '../../build.js'

let opened = 0

/** A store with a unique key prefix, unless `key_prefix` gives one. */
export const openMongoStore = async (port: number, options: Partial<ExperimentalMongoOptions> = {}) => {
  const resources = new Resources(silentLog)
  const probes: HealthProbe[] = []
  const all: ExperimentalMongoOptions = {
    connection_string: `mongodb://127.0.0.1:${port}/`,
    database: 'builds',
    cas_collection: 'cas',
    key_prefix: `test-${process.pid}-${opened++}/`,
    read_chunk_size: 65_536,
    connection_timeout_ms: 3000,
    command_timeout_ms: 10_000,
    ...options,
  }
  const watch = (probe: HealthProbe): number => probes.push(probe)
  const store = await buildStore(experimentalMongo, all, { clock: systemClock, resources, watch })
  return { store, probes, close: () => resources.close() }
}
