import type { RedisStoreOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { promisedFor, promisesNothing } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { connectionProbe } from '../../remote/connection-health.js'
import { Requests } from '../../remote/requests.js'
import { parseAddresses } from './address.js'
import { Commands, checkPrefix } from './commands.js'
import { RedisConnections } from './connections.js'
import { redisFailure } from './failure.js'
import { RedisStore } from './redis-store.js'

/**
 * Blobs in Redis, for machines that share a cache: mainly action results and small blobs. Redis decides what it evicts
 * (`maxmemory-policy`). The server starts even if Redis cannot be reached; the store fails until it can.
 */
export const redisStore: StoreKind<RedisStoreOptions> = {
  threads: () => oneForAll('its connections, and their bounds, are those of the process'),
  promise: ({ key_ttl_s: ttlS }) =>
    ttlS === 0
      ? promisesNothing('key_ttl_s is 0, so Redis alone decides')
      : promisedFor(ttlS, 'which a read is not; if Redis has room, see its maxmemory-policy'),
  build: async (options, { path, step, watch, resources, log }) => {
    checkPrefix(options.key_prefix)
    const target = parseAddresses(options.mode, options.addresses)
    for (const option of target.unusedOptions)
      log.warn('an option of an address of Redis has no effect', { store: path, mode: options.mode, option })
    const connectTimeoutMs = (options.connection_timeout_s ?? 0) * 1000 || options.connection_timeout_ms
    const connections = await RedisConnections.open({
      target,
      poolSize: options.connection_pool_size,
      connectTimeoutMs,
      commandTimeoutMs: options.command_timeout_ms,
      log,
    })
    resources.add(`store ${path}: connections to Redis`, () => connections.close())
    step('connects to Redis')
    await connections.ready(connectTimeoutMs)

    const backend = `Redis at ${target.name}`
    const failureOf = (thrown: unknown) => redisFailure(backend, thrown)
    const { command_timeout_ms: timeoutMs, max_client_permits: maxConcurrent, retry } = options
    const commands = new Commands(connections, new Requests({ backend, retry, maxConcurrent, timeoutMs, failureOf }))
    const connection = {
      name: target.name,
      structName: 'RedisConnections',
      ping: async (signal: AbortSignal) => void (await connections.send(undefined, ['PING'], signal)),
      failureOf,
      timeoutMs: options.health_check_timeout_ms,
    }
    watch(connectionProbe(path, connection))
    return new RedisStore({
      commands,
      connection,
      keyPrefix: options.key_prefix,
      chunkBytes: options.read_chunk_size,
      maxChunkUploads: options.max_chunk_uploads_per_update,
      ttlMs: options.key_ttl_s * 1000,
    })
  },
}
