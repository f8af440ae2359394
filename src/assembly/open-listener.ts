import type { TlsOptions } from 'node:tls'
import type { Admin } from '../admin/admin.js'
import type { Clock } from '../base/clock.js'
import type { ServerConfig } from '../config/config.js'
import { addressText } from '../config/value/address.js'
import type { ReloadedFiles } from '../files/reloaded-files.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Site } from '../pages/site.js'
import type { Gate } from '../rpc/gate.js'
import type { Invocations } from '../rpc/invocations.js'
import type { RequestRecords } from '../rpc/request-records.js'
import type { AllConnections } from '../server/admission.js'
import { type Listener, listen } from '../server/listener.js'
import type { ServiceThreads } from '../server/threads/service-threads.js'
import { expiryMs, openListenerTls } from '../tls/listener-tls.js'
import type { Resources } from '../work/resources.js'
import { adminRoutes } from './admin-routes.js'
import type { DrainTime } from './drain-time.js'
import { startingHttpCaches } from './http-caches.js'
import { limitsOf } from './listener-limits.js'
import type { Observation } from './observation.js'
import { ofPeople, WORKERS_ADDRESS } from './pages.js'
import { type Parts, serviceNamesOf } from './services.js'

/** The TLS files of a server; undefined without TLS. */
const tlsOf = async (
  { name, listener: { tls } }: ServerConfig,
  resources: Resources,
  { clock, log }: Pick<Parts, 'clock' | 'log'>,
): Promise<ReloadedFiles<TlsOptions> | undefined> => {
  if (tls === undefined) return undefined
  const files = await openListenerTls({ of: `server ${name}`, tls, clock, log })
  resources.add(`certificates of server ${name}`, () => files.close())
  return files
}

export interface ListenerParts {
  readonly gate: Gate | undefined
  readonly threads: ServiceThreads | undefined
  readonly allConnections: AllConnections
  readonly admin: Admin
  readonly resources: Resources
  readonly drainTime: DrainTime
  readonly ledger: Ledger
  readonly clock: Clock
  readonly shownShare: number
  readonly invocations: Invocations
  readonly records: RequestRecords
  readonly site: Site | undefined
}

/**
 * Listens before the services exist, so that health is available while stores open. Until then calls are UNAVAILABLE.
 * Resources close in reverse order, so the caller must add the listener's end once more after the parts that its
 * services use.
 */
export const openListener = async (
  server: ServerConfig,
  {
    gate,
    threads,
    allConnections,
    admin,
    resources,
    drainTime,
    ledger,
    clock,
    shownShare,
    invocations,
    records,
    site,
  }: ListenerParts,
  observation: Observation,
): Promise<Listener> => {
  const { log, meters } = observation
  const homes = { workers: site?.linkTo(WORKERS_ADDRESS) ?? '/', scopes: site?.linkTo('scopes') ?? '/' }
  const forms = server.services.admin && admin.forms(server.services.admin.path, homes)
  const tls = await tlsOf(server, resources, { clock, log })
  const { max_decoding_message_size, transport, compression } = server.listener
  const { max_connections: maxConnections, max_connections_per_address: maxConnectionsPerAddress } = server.listener
  const { send_compression_algorithm, accepted_compression_algorithms } = compression
  const listener = await listen({
    address: addressText(server.listener),
    unixSocketMode: Number.parseInt(server.listener.unix_socket_mode, 8),
    services: [],
    awaited: serviceNamesOf(server),
    routes: [
      ...observation.pagesOf(server, {
        overviews: () => admin.overviews(),
        refresh: () => admin.refresh(),
        scopes: () => admin.scopes(),
        forms,
        site,
      }),
      ...adminRoutes(server, admin),
      ...(forms?.routes() ?? []).map((route) => ofPeople(route, site)),
      ...(site?.routes() ?? []),
      ...startingHttpCaches(server),
    ],
    transport,
    threads,
    ...(tls && { tls: tls.current }),
    gate,
    maxMessageBytes: max_decoding_message_size,
    connections: { maxConnections, maxConnectionsPerAddress },
    allConnections,
    limits: limitsOf(server.listener),
    ledger,
    compression: {
      sendsGzip: send_compression_algorithm === 'gzip',
      accepted: accepted_compression_algorithms.filter((name) => name !== 'none'),
    },
    meters: meters && ((path) => meters.calls.of(path)),
    httpMeters: meters && ((route) => meters.http.of(route)),
    tracer: observation.tracer,
    shownShare,
    invocations,
    records,
    clock,
    log,
  })
  if (tls !== undefined) observation.metrics.watchCertificate(server.name, () => expiryMs(tls.current))
  tls?.onChange((now) => listener.renewTls(now))
  resources.add(`listener of server ${server.name}`, () => listener.close(drainTime.leftMs))
  log.debug('listening; calls are refused until the start is complete', {
    server: server.name,
    at: listener.address,
  })
  return listener
}
