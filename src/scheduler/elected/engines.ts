import { StatusError } from '../../base/status-error.js'
import type { SimpleSchedulerOptions, StoreOptions } from '../../config/config.js'
import { unhiddenSecrets } from '../../log/secrets.js'
import { openBucket } from '../../store/kinds/experimental_cloud_object_store/open-bucket.js'
import { parseAddresses } from '../../store/kinds/redis_store/address.js'
import { RedisConnections } from '../../store/kinds/redis_store/connections.js'
import { redisFailure } from '../../store/kinds/redis_store/failure.js'
import type { BuildContext } from '../kind.js'
import type { Engine } from './engine.js'
import { ObjectEngine } from './object-engine.js'
import { RedisEngine } from './redis-engine.js'

const REDIS_LEASE_S = 3
/** Providers take one write of an object a second, and ask money for each. */
const OBJECT_LEASE_S = 10
/** A server starts without its engine, but not with one that would let two servers lead. */
const PROBE_MS = 5_000

export const defaultLeaseS = ({
  experimental_backend: backend,
}: Pick<SimpleSchedulerOptions, 'experimental_backend'>) =>
  typeof backend === 'object' && 'object' in backend ? OBJECT_LEASE_S : REDIS_LEASE_S

/** That of a configuration that was checked. FAILED_PRECONDITION if it cannot keep two servers from leading. */
export const engineOf = (
  { experimental_backend: backend }: SimpleSchedulerOptions,
  context: BuildContext,
): Promise<Engine> => {
  if (typeof backend !== 'object') {
    throw new StatusError('INVALID_ARGUMENT', `experimental_backend ${backend} is of this process alone`)
  }
  return 'object' in backend
    ? objectEngine(backend.object.object_store, context)
    : redisEngine(backend.redis.redis_store, context)
}

const redisEngine = async (storeName: string, context: BuildContext): Promise<Engine> => {
  const options = optionsOf('redis_store', storeName, context)
  const { mode, addresses, connection_timeout_s, connection_timeout_ms, command_timeout_ms, key_prefix } = options
  const target = parseAddresses(mode, addresses)
  const connectTimeoutMs = (connection_timeout_s ?? 0) * 1000 || connection_timeout_ms
  const bounds = { poolSize: 1, connectTimeoutMs, commandTimeoutMs: command_timeout_ms }
  const connections = await RedisConnections.open({ target, ...bounds, log: context.log })
  await connections.ready(connectTimeoutMs)
  const name = `Redis at ${target.name}`
  const failureOf = (thrown: unknown) => redisFailure(name, thrown)
  return new RedisEngine({ connections, name, keyPrefix: key_prefix, schedulerName: context.name, failureOf })
}

const objectEngine = async (storeName: string, context: BuildContext): Promise<Engine> => {
  const { log, name, secrets = unhiddenSecrets } = context
  const options = optionsOf('experimental_cloud_object_store', storeName, context)
  const bucket = await openBucket(options, secrets)
  const engine = new ObjectEngine({ bucket, keyPrefix: options.key_prefix, schedulerName: name })
  const heeds = await engine.heedsConditions(AbortSignal.timeout(PROBE_MS)).catch((error: unknown) => {
    log.warn('the engine cannot be reached yet', { engine: engine.name, error })
  })
  if (heeds !== false) return engine
  await engine.close()
  throw engine.refusal()
}

const optionsOf = <Kind extends keyof StoreOptions>(
  kind: Kind,
  name: string,
  context: BuildContext,
): StoreOptions[Kind] => {
  const store = context.storeConfig?.(name)
  if (store?.kind === kind) return store.options as StoreOptions[Kind]
  throw new StatusError('INVALID_ARGUMENT', `store ${JSON.stringify(name)} is no store of kind ${kind}`)
}
