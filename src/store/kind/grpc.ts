import { createSecureContext } from 'node:tls'
import { ReloadedFiles } from '../../base/reloaded-files.js'
import { StatusError } from '../../base/status-error.js'
import type { GrpcEndpoint, GrpcOptions } from '../../config/config.js'
import { zstdFailure } from '../../stream/compression/libzstd.js'
import { type Address, readAddress } from '../../tls/endpoint.js'
import { GrpcActionCacheStore } from '../grpc/ac-store.js'
import { type Batching, GrpcCasStore } from '../grpc/cas-store.js'
import { Channel } from '../grpc/channels.js'
import { grpcFailure } from '../grpc/failure.js'
import { GrpcStore } from '../grpc/grpc-store.js'
import { healthOf } from '../grpc/health.js'
import { RemoteServer } from '../grpc/remote-server.js'
import type { BuildContext, StoreKind } from '../kind.js'
import { type Connection, connectionProbe } from '../remote/connection-health.js'
import { Requests } from '../remote/requests.js'
import type { Store } from '../store.js'

/**
 * The CAS or the action cache of another server, as the slow tier of a machine's own folder above all. It is reached when it
 * is first asked: that it is not there keeps nobody from starting.
 */
export const grpc: StoreKind<GrpcOptions> = {
  build: async (options, context) => {
    const { path, watch, resources } = context
    const { endpoints, connections_per_endpoint: each, retry } = options
    const dialled = await Promise.all(
      endpoints.map(async (endpoint) => ({ endpoint, address: await readAddress(endpoint) })),
    )
    const perEndpoint = dialled.map(({ address, endpoint }) =>
      Array.from({ length: each }, () => new Channel(address, endpoint)),
    )
    for (const [at, endpoint] of endpoints.entries()) await renewing(endpoint, perEndpoint[at] ?? [], context)
    // Neighbours in turn are different servers.
    const channels = Array.from({ length: each }, (_, at) =>
      perEndpoint.flatMap((some) => some.slice(at, at + 1)),
    ).flat()
    resources.add(`store ${path}: connections`, () => {
      for (const channel of channels) channel.close()
    })

    const backend = dialled.map(({ address }) => address.target).join(', ')
    const failureOf = (thrown: unknown): StatusError => grpcFailure(backend, thrown)
    const timeoutMs = options.rpc_timeout_s * 1000
    const server = new RemoteServer({
      backend,
      channels,
      instanceName: options.instance_name,
      requests: new Requests({ backend, retry, maxConcurrent: options.max_concurrent_requests, timeoutMs, failureOf }),
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
              structName: Channel.name,
              ping: (signal) => server.ping(channel, signal),
              failureOf,
              timeoutMs,
            },
          ],
    )
    for (const connection of connections) watch(connectionProbe(path, connection))
    const health = healthOf(connections)
    if (options.store_type === 'ac') return inInstances(server, (some) => new GrpcActionCacheStore(some, health))
    const common = {
      health,
      isLegacy: options.use_legacy_resource_names,
      batching: batchingOf(options),
      usesZstd: options.experimental_remote_cache_compression && zstdFailure() === undefined,
    }
    return inInstances(server, (some) => new GrpcCasStore({ ...common, server: some }))
  },
}

/** Connections are made anew when a file of their TLS changes. */
const renewing = async (
  endpoint: GrpcEndpoint,
  channels: readonly Channel[],
  { path, resources, clock, log }: BuildContext,
): Promise<void> => {
  const { ca_file, cert_file, key_file } = endpoint.tls_config ?? {}
  const paths = [ca_file, cert_file, key_file].filter((file) => file !== undefined)
  if (paths.length === 0) return
  const what = `certificates of store ${path}`
  const files = await ReloadedFiles.open({ what, paths, read: () => readUsable(endpoint), clock, log })
  files.onChange((address) => {
    for (const channel of channels) channel.renew(address)
  })
  resources.add(what, () => files.close())
}

/** A key that is there before its certificate is for the next look. */
const readUsable = async (endpoint: GrpcEndpoint): Promise<Address> => {
  const address = await readAddress(endpoint)
  const { ca, key, cert } = address.tls ?? {}
  try {
    createSecureContext({ ca, ...(key && { key }), ...(cert && { cert }) })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `the files of tls_config cannot be used: ${reason}`, { cause })
  }
  return address
}

const inInstances = (server: RemoteServer, storeIn: (server: RemoteServer) => Store): Store =>
  new GrpcStore(storeIn(server), (instanceName) => storeIn(server.inInstance(instanceName)))

/** What the keys of `experimental_read_batching` are when it is left out. */
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
