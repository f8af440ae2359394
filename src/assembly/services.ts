import { entryFor } from '../base/catch-all.js'
import type { Clock } from '../base/clock.js'
import type { KeptSizes } from '../blobs/meter.js'
import type { Store } from '../blobs/store.js'
import type { Builds } from '../builds/builds.js'
import type { ExecutionServiceConfig, GlobalOptions, ServerConfig } from '../config/config.js'
import type { ParentResults } from '../config/parents.js'
import type { DirectoryTrees } from '../content/directory-trees.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import { SparingLog } from '../log/sparing-log.js'
import { SUPPORTED_NODE_PROPERTIES } from '../reapi/command.js'
import { type Compressor, compressors } from '../reapi/compressor.js'
import { type DigestFunction, digestFunctions } from '../reapi/digest-function.js'
import type { Invocations } from '../rpc/invocations.js'
import type { RequestRecords } from '../rpc/request-records.js'
import type { Service } from '../rpc/rpc.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { AcInstance } from '../service/action-cache/options.js'
import { actionCacheService } from '../service/action-cache/service.js'
import { buildEventService } from '../service/build-events/service.js'
import { LogStreams } from '../service/bytestream/log-stream.js'
import type { ByteStreamInstance } from '../service/bytestream/options.js'
import { byteStreamService } from '../service/bytestream/service.js'
import type { Uploads } from '../service/bytestream/uploads.js'
import {
  type CacheCapabilities,
  type CapabilitiesInstance,
  capabilitiesService,
  type ExecutionCapabilities,
} from '../service/capabilities.js'
import { type CasOptions, FAULT_RATION } from '../service/cas/options.js'
import { casService } from '../service/cas/service.js'
import type { ExecutionInstance, ExecutionOptions } from '../service/execution/instance.js'
import type { LinkFor } from '../service/execution/operation-message.js'
import { type ResultStores, StoredResults, type StoredResultsOptions } from '../service/execution/results.js'
import { executionService } from '../service/execution/service.js'
import type { CasInstance } from '../service/instance.js'
import { operationsService } from '../service/operations/service.js'
import { schedulerStateService } from '../service/scheduler-state/service.js'
import { schedulingService } from '../service/scheduling/service.js'
import { workerApiService } from '../service/worker-api/service.js'
import type { LentStores } from '../store/lent/server.js'
import type { ResultCache } from '../store/scoped/result-cache.js'
import { zstdFailure } from '../stream/compression/libzstd.js'
import { assetServices } from './assets.js'
import { chunkedBlobs } from './chunked-blobs.js'
import { resultCacheOf, type ScopesOfStores } from './result-caches.js'

/** The parts that services of all servers of the process share. */
export interface Parts {
  readonly global: GlobalOptions
  /** Whether the blobs and results of an instance must stay invisible to other instances. */
  isIsolated(instanceName: string): boolean
  /** The store, or a view of it, as seen by an instance. The same object for the same arguments. */
  viewOf(instanceName: string, store: Store): Store
  /** Whether the instance has clients that know Actions by their hash only (Bazel over HTTP). */
  hasHashClients(instanceName: string): boolean
  /**
   * Whether HTTP entries, sizes and assets of older versions are read. Every client that may write results could have written
   * them, so only if all callers have the same rights: without `security`.
   */
  readonly readsOlder: boolean
  /** What branches keep in each action cache. */
  readonly scopes: ScopesOfStores
  /** The instances whose results an instance reads after its own, the nearest first. */
  parentsOf(instanceName: string): readonly ParentResults[]
  /** The largest blob that clients may upload to an instance, if it has a limit. */
  maxBlobBytes(instanceName: string): number | undefined
  /** What the named stores keep; undefined if they keep nothing themselves. */
  keptBy(names: readonly string[]): KeptSizes | undefined
  /** A named store as an action cache. */
  ac(name: string): Store
  /** A named store as a CAS. The same object for the same name, so that uploads to it see each other. */
  cas(name: string): Store
  scheduler(name: string): Scheduler
  workersOf(scheduler: string): WorkerFacts
  /** The stores for a worker process of this machine, by its key. */
  lentStores(key: string): LentStores | undefined
  readonly uploads: Uploads
  /** Operations of this process that ended, by result. */
  executionResults(): ReadonlyMap<string, number>
  /** The builds of clients that are alive. */
  readonly invocations: Invocations
  /** The last requests about actions. */
  readonly records: RequestRecords
  /** The address of the page of an action, if a server has pages with an address. */
  readonly linkOf: LinkFor | undefined
  /** Kept invocations, if a server takes build events. */
  readonly builds: Builds | undefined
  readonly ledger: Ledger
  /** Two, so that actions do not wait for trees that clients read. */
  readonly trees: { readonly ofGetTree: DirectoryTrees; readonly ofActions: DirectoryTrees }
  readonly clock: Clock
  readonly log: Log
  /** Runs when the process stops, after the listeners have closed. */
  atClose(name: string, close: () => Promise<void>): void
}

/** Facts about the workers that this process starts for a scheduler. */
export interface WorkerFacts {
  /** Whether they write results to the action cache themselves. */
  readonly writeResults: boolean
  /** The longest timeout of an action that any of them allows. */
  readonly maxTimeoutMs: number
}

/** Announced and enforced. By default, gRPC clients accept messages of at most 4 MiB. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** The accepted digest functions, the default one first. */
export const servedFunctions = ({
  digest_functions,
  default_digest_hash_function,
}: GlobalOptions): DigestFunction[] => [
  digestFunctions[default_digest_hash_function],
  ...digest_functions.filter((name) => name !== default_digest_hash_function).map((name) => digestFunctions[name]),
]

/** zstd needs a library on this machine. */
const servedCompressors = (): readonly Compressor[] =>
  zstdFailure() === undefined ? compressors : compressors.filter(({ name }) => name !== 'ZSTD')

/**
 * The gRPC services of one server of the configuration: those with at least one instance. The others do not exist, so
 * that reflection, health and calls are consistent.
 */
export const servicesOf = (server: ServerConfig, parts: Parts): Service[] => {
  const { cas, ac, byteStream, execution, capabilities, digestFunctions } = instancesOf(server, parts)
  // Service threads, which have no scheduler, would be asked for them.
  const isOneThread = parts.global.threads === 1
  const logStreams =
    isOneThread && execution.size > 0 ? new LogStreams({ schedulers: execution, clock: parts.clock }) : undefined
  const executionOptions: ExecutionOptions = {
    instances: execution,
    served: capabilities,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    trees: parts.trees.ofActions,
    clock: parts.clock,
    log: parts.log,
    linkOf: parts.linkOf,
    hasLogStreams: (instance) =>
      logStreams !== undefined &&
      entryFor(byteStream, instance) !== undefined &&
      tellsPrinted(entryFor(execution, instance)?.scheduler),
  }
  const faults = new SparingLog(parts.log, parts.clock, FAULT_RATION)
  const casOptions: CasOptions = {
    instances: cas,
    maxBatchBytes: MAX_BATCH_BYTES,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    trees: parts.trees.ofGetTree,
    clock: parts.clock,
    faults,
  }
  const where = (instances: ReadonlyMap<string, unknown>, ...services: Service[]): Service[] =>
    instances.size === 0 ? [] : services
  return [
    ...where(capabilities, capabilitiesService(capabilities)),
    ...where(cas, casService(casOptions)),
    ...where(ac, actionCacheService({ instances: ac, maxResponseBytes: MAX_RESPONSE_BYTES })),
    ...where(byteStream, byteStreamService({ instances: byteStream, uploads: parts.uploads, logStreams, faults })),
    ...where(
      execution,
      executionService(executionOptions),
      operationsService(executionOptions),
      schedulerState(execution, parts),
      schedulingService({ instances: execution, ledger: parts.ledger, clock: parts.clock }),
    ),
    ...assetServices({ services: server.services, cas, digestFunctions }, parts),
    ...buildEvents(server.services, parts),
    ...workerApi(server.services, parts),
  ]
}

/** The names of the services in `servicesOf`. Known before the parts of the services exist. */
export const serviceNamesOf = ({ services }: ServerConfig): string[] => {
  const where = (isServed: boolean, ...names: string[]): string[] => (isServed ? names : [])
  return [
    ...where(services.capabilities.size > 0, `${REAPI}.Capabilities`),
    ...where(services.cas.size > 0, `${REAPI}.ContentAddressableStorage`),
    ...where(services.ac.size > 0, `${REAPI}.ActionCache`),
    ...where(services.bytestream.size > 0, 'google.bytestream.ByteStream'),
    ...where(
      services.execution.size > 0,
      `${REAPI}.Execution`,
      'google.longrunning.Operations',
      SCHEDULER_STATE,
      SCHEDULING,
    ),
    ...where(services.fetch.size > 0, 'build.bazel.remote.asset.v1.Fetch'),
    ...where(services.push.size > 0, 'build.bazel.remote.asset.v1.Push'),
    ...where(services.build_events !== undefined, 'google.devtools.build.v1.PublishBuildEvent'),
    ...where(services.worker_api !== undefined, 'remexec.worker.v1.WorkerApi'),
  ]
}

const REAPI = 'build.bazel.remote.execution.v2'
const SCHEDULER_STATE = 'remexec.scheduler.v1.SchedulerState'
const SCHEDULING = 'remexec.scheduler.v1.Scheduling'

/** An action cache that a server serves, with the parts of it that only HTTP caches and workers need. */
export interface ServedResults extends AcInstance {
  readonly results: ResultCache
}

/** The action caches of a server's instances, with their CAS. */
export const cachesOf = (
  server: ServerConfig,
  parts: Parts,
): { readonly ac: ReadonlyMap<string, ServedResults>; readonly cas: ReadonlyMap<string, CasInstance> } =>
  instancesOf(server, parts)

/** The instances of each service of a server. */
const instancesOf = ({ services }: ServerConfig, parts: Parts) => {
  const digestFunctions = servedFunctions(parts.global)
  const compressorsOf = (instance: string): readonly Compressor[] =>
    entryFor(services.capabilities, instance)?.remote_cache_compression === false ? [] : servedCompressors()
  const casInstance = (cas_store: string, instance: string): CasInstance => ({
    cas: casOf(cas_store, instance, parts),
    digestFunctions,
    compressors: compressorsOf(instance),
    maxBlobBytes: parts.maxBlobBytes(instance),
  })
  const cas = mapValues(services.cas, ({ cas_store, experimental_chunking: chunking }, instance) => {
    const served = casInstance(cas_store, instance)
    return { ...served, chunked: chunkedBlobs(chunking, instance, served.cas, parts) }
  })
  const ac = mapValues(services.ac, ({ ac_store, read_only }, instance): ServedResults => {
    const { cas: outputs } = entryFor(cas, instance) ?? {}
    const results = resultCacheOf(ac_store, instance, outputs, parts)
    return { results, cas: outputs, digestFunctions, isReadOnly: read_only }
  })
  const byteStream = mapValues(services.bytestream, (options, instance): ByteStreamInstance => {
    const { max_bytes_per_stream: maxReadChunkBytes, persist_stream_on_disconnect_timeout_s: parkedForS } = options
    return { ...casInstance(options.cas_store, instance), maxReadChunkBytes, parkedForMs: parkedForS * 1000 }
  })
  const execution = mapValues(services.execution, (options, instance) =>
    executionInstance(options, instance, parts, digestFunctions),
  )
  const capabilities = mapValues(services.capabilities, ({ remote_execution }, instance): CapabilitiesInstance => {
    const results = entryFor(ac, instance)
    const isCached = results !== undefined || entryFor(cas, instance) !== undefined
    // If another server executes for this instance, its entry in the configuration says so.
    const isExecuted = entryFor(execution, instance) !== undefined || remote_execution !== undefined
    return {
      digestFunctions,
      cache: isCached ? cacheCapabilities(results, entryFor(cas, instance), compressorsOf(instance)) : undefined,
      execution: isExecuted ? EXECUTION_CAPABILITIES : undefined,
    }
  })
  return { cas, ac, byteStream, execution, capabilities, digestFunctions }
}

const executionInstance = (
  { cas_store, scheduler }: ExecutionServiceConfig,
  instance: string,
  parts: Parts,
  digestFunctions: readonly DigestFunction[],
): ExecutionInstance => {
  const { maxTimeoutMs } = parts.workersOf(scheduler)
  return {
    cas: casOf(cas_store, instance, parts),
    scheduler: parts.scheduler(scheduler),
    digestFunctions,
    maxTimeoutMs,
  }
}

type StoreParts = Pick<
  Parts,
  'ac' | 'cas' | 'trees' | 'viewOf' | 'hasHashClients' | 'readsOlder' | 'scopes' | 'parentsOf'
>

const casOf = (name: string, instance: string, parts: StoreParts): Store => parts.viewOf(instance, parts.cas(name))

const cacheCapabilities = (
  ac: AcInstance | undefined,
  cas: CasInstance | undefined,
  served: readonly Compressor[],
): CacheCapabilities => ({
  chunking: cas?.chunked?.chunking,
  maxBlobBytes: cas?.maxBlobBytes,
  compressors: served,
  isUpdateEnabled: ac?.isReadOnly === false,
  maxBatchBytes: MAX_BATCH_BYTES,
})

/** All priorities of REAPI; lower values run sooner. */
const EXECUTION_CAPABILITIES: ExecutionCapabilities = {
  minPriority: -(2 ** 31),
  maxPriority: 2 ** 31 - 1,
  nodeProperties: SUPPORTED_NODE_PROPERTIES,
}

const buildEvents = (
  { build_events }: ServerConfig['services'],
  { builds, ledger, clock, invocations }: Pick<Parts, 'builds' | 'ledger' | 'clock' | 'invocations'>,
): Service[] => {
  if (build_events === undefined || builds === undefined) return []
  return [buildEventService({ builds, ledger, clock, invocations, maxSilenceMs: build_events.max_silence_s * 1000 })]
}

const schedulerState = (
  execution: ReadonlyMap<string, ExecutionInstance>,
  { clock, executionResults }: Pick<Parts, 'clock' | 'executionResults'>,
): Service => {
  const schedulers = [...new Set([...execution.values()].map(({ scheduler }) => scheduler))]
  return schedulerStateService({ schedulers, results: executionResults, clock })
}

/** The configuration was checked, so the scheduler accepts workers. */
const workerApi = (
  { worker_api }: ServerConfig['services'],
  { scheduler, isIsolated, lentStores, clock }: Parts,
): Service[] => {
  const pool = worker_api && scheduler(worker_api.scheduler).workers
  return pool === undefined ? [] : [workerApiService({ scheduler: pool, isIsolated, lentStores, clock })]
}

/** The results of actions, for all instances with execution of all servers. */
export const resultsOf = (
  servers: readonly ServerConfig[],
  parts: StoreParts & Pick<Parts, 'workersOf' | 'log'>,
  heard: Pick<StoredResultsOptions, 'tracer' | 'audit'>,
): StoredResults => {
  const all = servers.map(({ services }) => services.execution)
  const storesOf = ({ cas_store, ac_store, scheduler }: ExecutionServiceConfig, instance: string): ResultStores => {
    const cas = casOf(cas_store, instance, parts)
    return {
      instance,
      cas,
      results: resultCacheOf(ac_store, instance, cas, parts),
      isWrittenHere: !parts.workersOf(scheduler).writeResults,
    }
  }
  const stores = all.map((instances) => mapValues(instances, storesOf))
  return new StoredResults({
    // An entry with the instance's own name takes precedence over a catch-all entry of another server.
    storesOf: (name) =>
      stores.find((instances) => instances.has(name))?.get(name) ??
      stores.map((instances) => entryFor(instances, name)).find((one) => one !== undefined),
    ac: (name, { instance, cas }) => resultCacheOf(name, instance, cas, parts).shared,
    maxBytes: MAX_RESPONSE_BYTES,
    hasPages: servers.some(({ services }) => services.pages !== undefined),
    log: parts.log,
    ...heard,
  })
}

const mapValues = <V, W>(map: ReadonlyMap<string, V>, change: (value: V, key: string) => W): Map<string, W> =>
  new Map([...map].map(([key, value]) => [key, change(value, key)]))

/** Whether it is known what actions print: a scheduler of another program does not tell it. */
const tellsPrinted = ({ operator, elsewhere }: Partial<Scheduler> = {}): boolean =>
  operator !== undefined || elsewhere?.tellsPrinted === true
