import type {
  AcServiceOptions,
  AdminServiceOptions,
  BytestreamServiceOptions,
  CapabilitiesServiceOptions,
  CasServiceOptions,
  ExecutionServiceOptions,
  GlobalOptions,
  HealthServiceOptions,
  InstanceOptions,
  ListenerOptions,
  SchedulerConfig,
  SecurityOptions,
  StoreConfig,
  WorkerApiServiceOptions,
  WorkerConfig,
} from './generated/options.js'
import type { Problem } from './problem.js'

export type * from './generated/options.js'

/**
 * A configuration that was read, checked and normalised, deep-frozen. Sizes are bytes, keys in `_s` seconds, keys in
 * `_ms` milliseconds; both written forms have become one Map; implicit services are in it; every name in it resolves.
 */
export interface Config {
  readonly global: GlobalOptions
  /** By name, in the order of the file; stores the configuration did not name but needs come last. */
  readonly stores: ReadonlyMap<string, StoreConfig>
  readonly schedulers: ReadonlyMap<string, SchedulerConfig>
  readonly workers: readonly AttachedWorker[]
  /** Names are unique. A worker API listener that no server of the file provides is the last one. */
  readonly servers: readonly ServerConfig[]
  /** By name. Those that are not here have nothing to themselves. */
  readonly instances: ReadonlyMap<string, InstanceOptions>
  /** Absent where everybody may do everything. */
  readonly security?: SecurityOptions
  /**
   * Absolute paths of the configuration's own file and of the files and folders that it names: stores, work directories, keys,
   * lists of tokens. Confined actions do not see them. Certificates of authorities are public and not among them.
   */
  readonly paths: readonly string[]
  readonly warnings: readonly Problem[]
}

/**
 * A worker and where it connects. `server` is the name of the server of this process that serves its worker API: connect
 * to the address that server was bound to. Without it the scheduler is elsewhere, at `options.worker_api_endpoint.uri`.
 */
export type AttachedWorker = WorkerConfig & { readonly server?: string }

export interface ServerConfig {
  readonly name: string
  readonly listener: ListenerConfig
  readonly services: ServicesConfig
}

/** `host` is a name or an address without brackets, `0.0.0.0` when the file leaves it out; port 0 takes any free one. */
export interface ListenerConfig extends ListenerOptions {
  readonly host: string
  readonly port: number
}

/** Services by instance name. `capabilities` has every instance of the server, `bytestream` every one that has `cas`. */
export interface ServicesConfig {
  readonly cas: ReadonlyMap<string, CasServiceOptions>
  readonly ac: ReadonlyMap<string, AcServiceOptions>
  readonly bytestream: ReadonlyMap<string, BytestreamServiceOptions>
  readonly execution: ReadonlyMap<string, ExecutionServiceConfig>
  readonly capabilities: ReadonlyMap<string, CapabilitiesServiceOptions>
  readonly worker_api?: WorkerApiServiceOptions
  readonly health?: HealthServiceOptions
  readonly admin?: AdminServiceOptions
}

/** Execution knows the action cache of its instance, whichever server serves that. */
export interface ExecutionServiceConfig extends ExecutionServiceOptions {
  readonly ac_store: string
}
