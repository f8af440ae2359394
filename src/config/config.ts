import type {
  AcServiceOptions,
  AdminServiceOptions,
  BuildEventsServiceOptions,
  BytestreamServiceOptions,
  CapabilitiesServiceOptions,
  CasServiceOptions,
  ExecutionServiceOptions,
  FetchServiceOptions,
  GlobalOptions,
  HealthServiceOptions,
  HttpCacheServiceOptions,
  InstanceOptions,
  ListenerOptions,
  MetricsServiceOptions,
  PagesServiceOptions,
  PushServiceOptions,
  SchedulerConfig,
  SecurityOptions,
  StoreConfig,
  WorkerApiServiceOptions,
  WorkerConfig,
} from './generated/options.js'
import type { Problem } from './problem.js'

export type * from './generated/options.js'

/**
 * A configuration that was read, checked, normalised and deeply frozen. Sizes are bytes, keys in `_s`
 * seconds, keys in `_ms` milliseconds. Array and object forms have become Maps. Implicit services are
 * included, and every name resolves.
 */
export interface Config {
  readonly global: GlobalOptions
  /** By name, in the order of the file. Implicit stores come last. */
  readonly stores: ReadonlyMap<string, StoreConfig>
  readonly schedulers: ReadonlyMap<string, SchedulerConfig>
  readonly workers: readonly AttachedWorker[]
  /** Names are unique. A worker API listener that was added implicitly comes last. */
  readonly servers: readonly ServerConfig[]
  /** By name. Instances without an entry have no settings of their own. */
  readonly instances: ReadonlyMap<string, InstanceOptions>
  /** Absent if every caller may do everything. */
  readonly security?: SecurityOptions
  /**
   * Absolute paths of the configuration file and of the files and folders that it names: stores, work
   * directories, keys, lists of tokens. Confined actions cannot see them. Certificates of authorities are
   * public and not listed.
   */
  readonly paths: readonly string[]
  readonly warnings: readonly Problem[]
}

/**
 * A worker and its connection. `server` names the server of this process whose worker API it uses: connect to
 * the address that the server is bound to. Without it the scheduler is in another process, at
 * `options.worker_api_endpoint.uri`.
 */
export type AttachedWorker = WorkerConfig & { readonly server?: string }

export interface ServerConfig {
  readonly name: string
  readonly listener: ListenerConfig
  readonly services: ServicesConfig
}

/** `host` is a name or an address without brackets, by default `0.0.0.0`. Port 0 takes any free port. */
export interface ListenerConfig extends ListenerOptions {
  readonly host: string
  readonly port: number
}

/**
 * Services by instance name. `capabilities` has every instance of the server, `bytestream` every instance
 * with `cas`.
 */
export interface ServicesConfig {
  readonly cas: ReadonlyMap<string, CasServiceOptions>
  readonly ac: ReadonlyMap<string, AcServiceOptions>
  readonly bytestream: ReadonlyMap<string, BytestreamServiceOptions>
  readonly execution: ReadonlyMap<string, ExecutionServiceConfig>
  readonly capabilities: ReadonlyMap<string, CapabilitiesServiceOptions>
  readonly fetch: ReadonlyMap<string, FetchServiceOptions>
  readonly push: ReadonlyMap<string, PushServiceOptions>
  /** By path. */
  readonly http_cache: ReadonlyMap<string, HttpCacheServiceOptions>
  readonly worker_api?: WorkerApiServiceOptions
  readonly health?: HealthServiceOptions
  readonly admin?: AdminServiceOptions
  readonly metrics?: MetricsServiceOptions
  readonly pages?: PagesServiceOptions
  /** Those of `experimental_bep` too. The same in all servers that have it. */
  readonly build_events?: BuildEventsServiceOptions
}

/** `ac_store` is the action cache of the instance, even if another server serves it. */
export interface ExecutionServiceConfig extends ExecutionServiceOptions {
  readonly ac_store: string
}
