import { entryFor } from '../../base/catch-all.js'
import type {
  AcServiceOptions,
  AdminServiceOptions,
  AttachedWorker,
  BuildEventsServiceOptions,
  BytestreamServiceOptions,
  CapabilitiesServiceOptions,
  CasServiceOptions,
  ExecutionServiceConfig,
  ExecutionServiceOptions,
  ExperimentalBepServiceOptions,
  FetchServiceOptions,
  GlobalOptions,
  HealthServiceOptions,
  HttpCacheServiceOptions,
  InstanceOptions,
  ListenerConfig,
  ListenerOptions,
  MetricsServiceOptions,
  PagesServiceOptions,
  PushServiceOptions,
  SchedulerConfig,
  SecurityOptions,
  ServerConfig,
  ServicesConfig,
  StoreConfig,
  WorkerApiServiceOptions,
  WorkerConfig,
} from '../config.js'
import type { Findings } from '../findings.js'
import type { Origins } from '../schema/origins.js'
import { defaultNumber } from '../schema/schema.js'
import { parseListenerAddress } from '../value/address.js'
import { buildEventsOf } from './build-events.js'
import { placeWorkers } from './worker-api.js'

type ByInstance<Options> = ReadonlyMap<string, Options>

/** The normalised file, before implicit services are added. */
export interface NormalisedDocument {
  readonly global: GlobalOptions
  readonly stores: ReadonlyMap<string, StoreConfig>
  readonly schedulers: ReadonlyMap<string, SchedulerConfig>
  readonly workers: ReadonlyMap<string, WorkerConfig>
  readonly servers: ReadonlyMap<string, NormalisedServer>
  readonly instances: ReadonlyMap<string, InstanceOptions>
  readonly security?: SecurityOptions
}

export interface NormalisedServer {
  readonly listener: { readonly http: ListenerOptions }
  readonly services: WrittenServices
}

interface WrittenServices {
  readonly cas?: ByInstance<CasServiceOptions>
  readonly ac?: ByInstance<AcServiceOptions>
  readonly bytestream?: ByInstance<BytestreamServiceOptions>
  readonly execution?: ByInstance<ExecutionServiceOptions>
  readonly capabilities?: ByInstance<CapabilitiesServiceOptions>
  readonly fetch?: ByInstance<FetchServiceOptions>
  readonly push?: ByInstance<PushServiceOptions>
  readonly http_cache?: ReadonlyMap<string, HttpCacheServiceOptions>
  readonly worker_api?: WorkerApiServiceOptions
  readonly health?: HealthServiceOptions
  readonly admin?: AdminServiceOptions
  readonly metrics?: MetricsServiceOptions
  readonly pages?: PagesServiceOptions
  readonly build_events?: BuildEventsServiceOptions
  readonly experimental_bep?: ExperimentalBepServiceOptions
}

export interface CompletedDocument {
  readonly stores: ReadonlyMap<string, StoreConfig>
  readonly workers: readonly AttachedWorker[]
  readonly servers: readonly ServerConfig[]
}

/** Size limit of an implicit action cache. */
const IMPLICIT_AC_BYTES = 256 * 1024 * 1024

/** Adds implicit services, and the listener that workers need. */
export const complete = (
  document: NormalisedDocument,
  schedulerNames: ReadonlySet<string>,
  origins: Origins,
  findings: Findings,
): CompletedDocument => {
  const caches = new ActionCaches(document, origins, findings)
  const servers: ServerConfig[] = []
  for (const [name, server] of document.servers) {
    const listener = listenerConfig(server.listener.http, origins, findings)
    const build_events = buildEventsOf(server.services, document.stores, origins, findings)
    if (listener === undefined) continue
    const services = { ...completeServices(server.services, caches, origins), ...(build_events && { build_events }) }
    servers.push({ name, listener, services })
  }
  const attached = placeWorkers(document.workers, servers, schedulerNames, origins, findings)
  return { stores: new Map([...document.stores, ...caches.implicit]), ...attached }
}

const listenerConfig = (http: ListenerOptions, origins: Origins, findings: Findings): ListenerConfig | undefined => {
  try {
    return origins.record({ ...http, ...parseListenerAddress(http.socket_address) }, origins.of(http))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    findings.error([...origins.of(http), 'socket_address'], error.message, {
      found: JSON.stringify(http.socket_address),
      expected: 'host:port, [IPv6 address]:port, :port or unix:/path',
    })
    return undefined
  }
}

const completeServices = (written: WrittenServices, caches: ActionCaches, origins: Origins): ServicesConfig => {
  const cas = written.cas ?? new Map<string, CasServiceOptions>()
  const execution = new Map<string, ExecutionServiceConfig>()
  const ac = new Map(written.ac)
  for (const [instance, options] of written.execution ?? []) {
    const completed = { ...options, ac_store: caches.storeFor(instance) }
    execution.set(instance, origins.record(completed, origins.of(options)))
  }
  for (const instance of [...cas.keys(), ...execution.keys()]) {
    if (caches.isImplicit(instance)) {
      ac.set(instance, { instance_name: instance, ac_store: caches.storeFor(instance), read_only: false })
    }
  }
  const bytestream = new Map(written.bytestream)
  for (const [instance, { cas_store }] of cas) {
    if (bytestream.has(instance)) continue
    const settings = written.bytestream && entryFor(written.bytestream, instance)
    bytestream.set(instance, { ...BYTESTREAM, ...settings, instance_name: instance, cas_store })
  }
  const capabilities = completeCapabilities(
    written,
    [written.fetch, written.push, cas, ac, bytestream, execution].flatMap((service) => [...(service?.keys() ?? [])]),
    origins,
  )
  const { fetch = new Map(), push = new Map(), worker_api, health, admin, metrics, pages } = written
  return {
    cas,
    ac,
    bytestream,
    execution,
    capabilities,
    fetch,
    push,
    http_cache: written.http_cache ?? new Map(),
    ...(worker_api && { worker_api }),
    ...(health && { health }),
    ...(admin && { admin }),
    ...(metrics && { metrics }),
    ...(pages && { pages }),
  }
}

const completeCapabilities = (
  { capabilities = new Map(), execution }: WrittenServices,
  instances: readonly string[],
  origins: Origins,
): ByInstance<CapabilitiesServiceOptions> => {
  const completed = new Map<string, CapabilitiesServiceOptions>()
  for (const instance_name of new Set([...capabilities.keys(), ...instances])) {
    const scheduler = execution && entryFor(execution, instance_name)?.scheduler
    const options = entryFor(capabilities, instance_name)
    const full = {
      remote_cache_compression: true,
      ...(scheduler !== undefined && { remote_execution: { scheduler } }),
      ...options,
      instance_name,
    }
    completed.set(instance_name, options ? origins.record(full, origins.of(options)) : full)
  }
  return completed
}

/** Finds or creates the action cache of each instance. Another server of the process may serve it. */
class ActionCaches {
  readonly implicit = new Map<string, StoreConfig>()
  readonly #written = new Map<string, string>()
  readonly #implicitNames = new Map<string, string>()

  constructor(document: NormalisedDocument, origins: Origins, findings: Findings) {
    const servers = [...document.servers.values()]
    for (const { services } of servers) {
      for (const [instance, { ac_store }] of services.ac ?? []) this.#written.set(instance, ac_store)
    }
    for (const { services } of servers) {
      for (const [instance, options] of [...(services.cas ?? []), ...(services.execution ?? [])]) {
        if (entryFor(this.#written, instance) !== undefined || this.#implicitNames.has(instance)) continue
        this.#invent(instance, document.stores)
        findings.warning(
          origins.of(options),
          `instance ${JSON.stringify(instance)} has no action cache: it gets one in memory, which a restart empties`,
          { expected: 'an entry for the instance in services.ac' },
        )
      }
    }
  }

  isImplicit(instance: string): boolean {
    return this.#implicitNames.has(instance)
  }

  storeFor(instance: string): string {
    return entryFor(this.#written, instance) ?? this.#implicitNames.get(instance) ?? ''
  }

  #invent(instance: string, stores: ReadonlyMap<string, StoreConfig>): void {
    let name = instance === '' ? 'implicit_ac' : `implicit_ac/${instance}`
    while (stores.has(name)) name += '_'
    const eviction_policy = { max_bytes: IMPLICIT_AC_BYTES, evict_bytes: 0, max_seconds: 0, max_count: 0 }
    // A result that is gone is built again: only content is promised.
    this.implicit.set(name, { kind: 'memory', options: { eviction_policy, retention: 0, when_full: 'break' } })
    this.#implicitNames.set(instance, name)
  }
}

const BYTESTREAM = {
  max_bytes_per_stream: defaultNumber('service/bytestream.json', 'max_bytes_per_stream'),
  persist_stream_on_disconnect_timeout_s: defaultNumber(
    'service/bytestream.json',
    'persist_stream_on_disconnect_timeout_s',
  ),
}
