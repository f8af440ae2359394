import { StatusError } from '../../../base/status-error.js'
import type { Store } from '../../../blobs/store.js'
import type { GrpcEndpoint, GrpcOptions } from '../../../config/config.js'
import { shownWay } from '../../../outgoing/grpc-proxy.js'
import { zstdFailure } from '../../../stream/compression/libzstd.js'
import { type FollowParts, followAddress } from '../../../tls/followed-address.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'
import { type Connection, connectionProbe } from '../../remote/connection-health.js'
import { Requests } from '../../remote/requests.js'
import { GrpcActionCacheStore } from './ac-store.js'
import { type Batching, GrpcCasStore } from './cas-store.js'
import { Channel } from './channels.js'
import { grpcFailure, isLostCall } from './failure.js'
import { GrpcStore } from './grpc-store.js'
import { healthOf } from './health.js'
import { RemoteServer } from './remote-server.js'
import { SealedRecords } from './sealed-records.js'

/**
 * The CAS or the action cache of another server, mainly as the slow tier behind a local folder. Connects at the first
 * request, so the start does not depend on the other server.
 */
export const grpc: StoreKind<GrpcOptions> = {
  threads: () => oneForAll('its connections, and their bounds, are those of the process'),
  promise: ({ store_type }) => ({
    retentionS: 0,
    words:
      store_type === 'ac'
        ? 'what the other server promises for results'
        : 'what the other server promises: each FindMissingBlobs is passed on, its retention is not known here',
  }),
  build: async (options, context) => {
    const { path, watch, resources, clock, log } = context
    const { endpoints, connections_per_endpoint: each, retry } = options
    const parts = { of: `store ${path}`, clock, log, resources }
    const dialled = await Promise.all(endpoints.map((endpoint) => dial(endpoint, each, parts)))
    const perEndpoint = dialled.map((some) => some.channels)
    // Consecutive channels lead to different servers.
    const channels = Array.from({ length: each }, (_, at) =>
      perEndpoint.flatMap((some) => some.slice(at, at + 1)),
    ).flat()
    resources.add(`store ${path}: connections`, () => {
      for (const channel of channels) channel.close()
    })

    const backend = dialled.map(({ target }) => shownWay(target)).join(', ')
    const failureOf = (thrown: unknown): StatusError => grpcFailure(backend, thrown)
    const timeoutMs = options.rpc_timeout_s * 1000
    const maxConcurrent = options.max_concurrent_requests
    const server = new RemoteServer({
      backend,
      channels,
      instanceName: options.instance_name,
      requests: new Requests({ backend, retry, maxConcurrent, timeoutMs, failureOf, isLost: isLostCall }),
      headers: options.headers,
      forwarded: options.forward_headers,
      failureOf,
    })
    const connections = perEndpoint.flatMap(([channel]): Connection[] =>
      channel === undefined
        ? []
        : [
            {
              name: channel.target,
              structName: 'Channel',
              ping: (signal) => server.ping(channel, signal),
              failureOf,
              timeoutMs,
            },
          ],
    )
    for (const connection of connections) watch(connectionProbe(path, connection))
    const health = healthOf(connections)
    if (options.store_type === 'ac') {
      const records = new SealedRecords(options.record_secret)
      return inInstances(server, (some) => new GrpcActionCacheStore(some, health, records))
    }
    const common = {
      health,
      isLegacy: options.use_legacy_resource_names,
      batching: batchingOf(options),
      sendsChunks: options.experimental_chunked_uploads,
      usesZstd: options.experimental_remote_cache_compression && zstdFailure() === undefined,
    }
    return inInstances(server, (some) => new GrpcCasStore({ ...common, server: some }))
  },
}

/** Opens `count` connections to an endpoint, and renews them when one of its TLS files changes. */
const dial = async (endpoint: GrpcEndpoint, count: number, parts: FollowParts) => {
  const address = await followAddress(endpoint, parts)
  const channels = Array.from({ length: count }, () => new Channel(address.current, endpoint))
  address.onChange((now) => {
    for (const channel of channels) channel.renew(now)
  })
  return { target: address.current.target, channels }
}

const inInstances = (server: RemoteServer, storeIn: (server: RemoteServer) => Store): Store =>
  new GrpcStore(storeIn(server), (instanceName) => storeIn(server.inInstance(instanceName)))

/** The defaults of `experimental_read_batching`. */
const BATCHING: Batching = {
  maxBlobBytes: 128 * 1024,
  maxBatchBytes: 3 * 1024 * 1024,
  slots: 4,
  maxQueuedBytes: 32 * 1024 * 1024,
}

const batchingOf = ({ forward_headers, experimental_read_batching: read }: GrpcOptions): Batching | undefined => {
  if (forward_headers.length > 0) {
    if (read === undefined) return undefined
    const message = 'experimental_read_batching joins calls of several clients and forward_headers tells them apart'
    throw new StatusError('INVALID_ARGUMENT', `${message}, expected one of them`)
  }
  if (read === undefined) return BATCHING
  if (read.max_blob_size_bytes === 0) return undefined
  return {
    maxBlobBytes: read.max_blob_size_bytes,
    maxBatchBytes: read.max_batch_bytes,
    slots: read.dispatch_slots,
    maxQueuedBytes: read.max_queued_bytes,
  }
}
