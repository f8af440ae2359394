import { randomUUID } from 'node:crypto'
import { Admin } from '../admin/admin.js'
import type { Clock } from '../base/clock.js'
import type { ListBlobs } from '../blobs/listing.js'
import type { Store } from '../blobs/store.js'
import { OwnRecorder } from '../builds/own/recorder.js'
import type { Config, ServerConfig } from '../config/config.js'
import { storeBehind } from '../config/lint/context.js'
import { parentsIn } from '../config/parents.js'
import { resultStoresOf } from '../config/result-stores.js'
import { defaultNumber } from '../config/schema/schema.js'
import { DirectoryTrees } from '../content/directory-trees.js'
import { startFindings } from '../doctor/doctor.js'
import { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import { type SecretLearner, unhiddenSecrets } from '../log/secrets.js'
import type { OtlpSettings } from '../otlp/settings.js'
import { RecentRows } from '../pages/builds/recent-rows.js'
import { RequestGroups } from '../pages/builds/request-groups.js'
import type { LiveCounts } from '../pages/builds/row.js'
import type { Site } from '../pages/site.js'
import { requestFacts } from '../proto/request-metadata.js'
import type { Gate } from '../rpc/gate.js'
import { Invocations } from '../rpc/invocations.js'
import { RequestRecords } from '../rpc/request-records.js'
import type { Service } from '../rpc/rpc.js'
import { buildSchedulers } from '../scheduler/kinds.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import { Security } from '../security/security.js'
import type { Doors, Listener } from '../server/listener.js'
import { Uploads } from '../service/bytestream/uploads.js'
import { buildStores } from '../store/builder.js'
import { asCas } from '../store/view/cas.js'
import { asKeyed } from '../store/view/keyed.js'
import { zstdFailure } from '../stream/compression/libzstd.js'
import { LATE, within } from '../work/deadline.js'
import { inBackground } from '../work/in-background.js'
import { Resources } from '../work/resources.js'
import { namesOf, openBuilds } from './builds.js'
import { deleteResults } from './delete-results.js'
import { DrainTime } from './drain-time.js'
import { hashClientsOf, httpCaches } from './http-caches.js'
import { Instances } from './instances.js'
import { keptSizes, type Usages } from './kept-sizes.js'
import { listKept } from './list-kept.js'
import { connectionsOf } from './listener-limits.js'
import { type LogOutput, Observation } from './observation.js'
import { openListener } from './open-listener.js'
import { warnOfOtherFolders } from './other-folders.js'
import { pageStores } from './page-stores.js'
import { linkOfActions, openSite, pagesOf } from './pages.js'
import { processFacts } from './process-facts.js'
import { needRestart } from './reload.js'
import { ScopesOfStores, scopesIn } from './result-caches.js'
import { type Parts, resultsOf, servicesOf, type WorkerFacts } from './services.js'
import { plannedThreads, type ServedServer, Threaded } from './threads/service-threads.js'
import { LentStoresByKey, leavesResultsTo, startWorker, type WorkerContext } from './workers.js'

export interface Running {
  /** The bound addresses, in the order of the configuration. */
  readonly addresses: readonly ServedAddress[]
  /**
   * Applies what can change while the process runs: `security` without its audit log. Returns the parts of the
   * configuration that need a restart. Rejects if the new options cannot be used; then nothing has changed.
   */
  reload(config: Config): Promise<readonly string[]>
  /**
   * Stops accepting calls, lets work in flight end within its time limit, and stops all parts in reverse order of their
   * start. `agoMs`: how long ago the process was asked to stop; `drain_s` counts from then.
   */
  close(agoMs?: number): Promise<void>
}

export interface ServedAddress {
  /** The name of the server. */
  readonly name: string
  /** `host:port`. */
  readonly address: string
  readonly isSecure: boolean
  doors(): Doors
}

/** Starts everything in a configuration. If a part fails to start, the parts started before are stopped. */
export const assemble = async (config: Config, environment: Environment): Promise<Running> => {
  const { clock, log } = environment
  const drainTime = new DrainTime(config.global.drain_s * 1000, clock)
  const resources = new Resources(log, () => drainTime.partMs)
  try {
    const { addresses, security } = await start(config, resources, drainTime, environment)
    const reload = async (read: Config): Promise<readonly string[]> => {
      if (security !== undefined && read.security !== undefined) await security.renew(read.security)
      return needRestart(config, read)
    }
    const close = (agoMs = 0): Promise<void> => {
      drainTime.begin(agoMs)
      return resources.close()
    }
    return { addresses, reload, close }
  } catch (error) {
    await resources.close()
    throw error
  }
}

export interface Environment {
  readonly clock: Clock
  readonly log: Log
  /** The output of the log, if it may fail. */
  readonly logOutput?: LogOutput
  /** Receives secrets that the process gets while it runs. Absent if nobody reads its log. */
  readonly secrets?: SecretLearner
  /** The destination of metrics and traces; absent if there is none. */
  readonly otlp?: OtlpSettings
  /** Counts what is held for clients; for tests that look at it, without service threads. */
  readonly ledger?: Ledger
  /** Runs the workers of a server in this process too. For tests that inspect them. */
  readonly workersAreHere?: boolean
}

const start = async (
  config: Config,
  resources: Resources,
  drainTime: DrainTime,
  environment: Environment,
): Promise<Started> => {
  const { clock, otlp, logOutput, secrets = unhiddenSecrets } = environment
  const isStopping = (): boolean => drainTime.hasBegun
  const { count: threadCount, calls } = await plannedThreads(config, otlp?.traces !== undefined, environment.log)
  const ledger = environment.ledger ?? new Ledger({}, threadCount === 0 ? undefined : {})
  const observed = { config, resources, clock, ledger, log: environment.log, logOutput, otlp, isStopping }
  const observation = await Observation.start(observed)
  const { health, meters, log } = observation
  const withoutZstd = zstdFailure()
  if (withoutZstd !== undefined) log.warn('zstd is not offered to clients', { reason: withoutZstd })
  const security = config.security && (await Security.open(config.security, { clock, log, resources }))
  if (security?.lostAuditLines !== undefined) observation.metrics.watchAudit(() => security.lostAuditLines ?? 0)
  const invocations = new Invocations(clock)
  resources.add('invocations', invocations.start())
  const records = new RequestRecords(clock, requestFacts)
  observation.metrics.watchInvocations(invocations)
  const shownShare = config.global.log_call_share
  const threadedParts = { ledger, clock, log, shownShare, metrics: meters, invocations, records, security }
  const threaded = await Threaded.start(threadCount, threadedParts)
  resources.add('service threads', () => threaded?.stop())
  const allConnections = await connectionsOf(config.servers, log)
  const listeners = new Map<string, Listener>()
  const admin = new Admin(log, clock)
  const sites = new Map<string, Site>()
  for (const server of config.servers) {
    const gate = gateOf(server, security, [])
    const site = openSite(server, { clock, config, security })
    if (site !== undefined) sites.set(server.name, site)
    const listenerParts = {
      gate,
      threads: calls.servers.includes(server) ? threaded?.threads : undefined,
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
    }
    listeners.set(server.name, await openListener(server, listenerParts, observation))
  }
  await warnOfMachine(config, log)
  const usages: Usages = new Map()
  const listers = new Map<string, ListBlobs>()
  const stores = await buildStores(config.stores, {
    ...{ resources, clock, log, secrets, invocations, resultStores: resultStoresOf(config.servers) },
    watch: (probe) => health.register(probe),
    threads: threaded?.sharing,
    usages,
    listers,
    ...(meters && { meter: (store) => meters.stores.of(store) }),
  })
  void warnOfOtherFolders(config, { log, resources })
  const lentStores = new LentStoresByKey(secrets)
  const uploads = new Uploads(clock, ledger)
  resources.add('uploads', async () => {
    await Promise.all([uploads.close(), threaded?.endUploads()])
  })
  const instances = new Instances(config.instances, clock)
  const scopes = new ScopesOfStores(config.security, { clock, log })
  observation.metrics.watchScopes(() => scopes.reads)
  const builds = await openBuilds(config, { resources, clock, log })
  const shared = {
    global: config.global,
    isIsolated: (instanceName: string) => instances.isIsolated(instanceName),
    viewOf: (instanceName: string, store: Store) => instances.viewOf(instanceName, store),
    maxBlobBytes: (instanceName: string) => instances.maxBlobBytes(instanceName),
    keptBy: (names: readonly string[]) => keptSizes(names, config.stores, usages),
    hasHashClients: hashClientsOf(config),
    readsOlder: config.security === undefined,
    scopes,
    parentsOf: parentsIn(config.servers, config.instances),
    ac: viewsOf(stores, asKeyed),
    cas: viewsOf(stores, asCas),
    workersOf: (scheduler: string) => workerFacts(config, scheduler),
    executionResults: () => observation.metrics.executions.results(),
    lentStores: (key: string) => lentStores.of(key),
    trees: { ofGetTree: new DirectoryTrees(), ofActions: new DirectoryTrees() },
    ...{ uploads, invocations, records, clock, log, ledger },
    linkOf: linkOfActions(config.servers, (invocation) => builds?.open.has(invocation) ?? false),
    builds,
    atClose: (name: string, close: () => Promise<void>) => resources.add(name, close),
  }
  const schedulers = await buildSchedulers(config.schedulers, {
    ...{ resources, clock, log, secrets, ledger, newId: randomUUID, tracer: observation.tracer },
    shownShare: config.global.log_call_share,
    ...(meters && { meter: meters.executions }),
    results: resultsOf(config.servers, shared, {
      tracer: observation.tracer,
      audit: security && ((result) => security.keptResult(result)),
    }),
    storeConfig: (name) => storeBehind(config.stores, name),
    watch: (probe) => health.register(probe),
    observe: (activity) => observation.metrics.executions.watch(activity),
    observeElection: (election) => observation.metrics.elections.watch(election),
  })

  admin.schedulers = schedulers
  const parts: Parts = { ...shared, scheduler: (name) => existing(schedulers, name) }
  const served = new Map<string, ServedServer>()
  const requests = new RequestGroups(records)
  const live: LiveCounts = (id) => {
    const counts = invocations.countsOf(id)
    return counts && { hits: counts.hit, misses: counts.miss }
  }
  if (shared.builds !== undefined)
    resources.add('own records of builds', new OwnRecorder(shared.builds, records, invocations).start())
  const recent = new RecentRows({ builds: shared.builds, requests, live })
  inBackground(recent.prepare(), log, 'preparing the list of builds')
  observation.nameBuilds = namesOf(shared.builds)
  const overviews = (): ReturnType<Admin['overviews']> => admin.overviews()
  const scopesOf = scopesIn(config.servers, parts)
  const removal = deleteResults(pageStores(config.servers, parts), records, scopesOf)
  const listing = listKept({ servers: config.servers, stores: config.stores, listers })
  const facts = { observation, builds: shared.builds, recent, usages, overviews, clock }
  admin.facts = processFacts({ ...facts, deleteResults: removal, listKept: listing, scopes: () => scopes.usage })
  const pages = pagesOf(config, parts, { overviews, requests, recent, live, schedulers })
  for (const server of config.servers) {
    const services = servicesOf(server, parts)
    const listener = existing(listeners, server.name)
    served.set(server.name, { listener, services })
    const caches = httpCaches(server, parts, meters && ((cache) => meters.httpCaches.of(cache)))
    listener.serve(services, gateOf(server, security, services), caches)
    listener.setServing(health.awaited.length === 0)
    sites.get(server.name)?.serve(pages)
  }
  await threaded?.serve(calls, config, served, security)
  resources.add('servers', async () => {
    await Promise.all([...listeners.values()].map((listener) => listener.close(drainTime.leftMs)))
  })
  resources.add('streams of build events', () => shared.builds?.stop())
  // Closed before the listeners: the streams of workers and of waiting clients never end by themselves, so listeners
  // would wait for them.
  resources.add('schedulers', () => closeAll(schedulers))
  const workerContext: WorkerContext = {
    ...{ servers: config.servers, hidden: config.paths, listeners, lentStores, parts, ledger, observation },
    isAlone: config.workers.length === 1 && config.workers[0]?.server === undefined,
    token: security?.internalWorkerToken,
    workersAreHere: environment.workersAreHere ?? false,
  }
  for (const attached of config.workers) {
    const worker = await startWorker(attached, workerContext)
    resources.add(`worker ${worker.name}`, () => worker.close(drainTime.leftMs))
  }
  observation.watchHealth((isHealthy) => {
    for (const listener of listeners.values()) listener.setServing(isHealthy && !isStopping())
  })
  resources.add('actions in progress', async () => {
    for (const listener of listeners.values()) listener.setServing(false)
    for (const scheduler of schedulers.values()) scheduler.drain()
    const { leftMs } = drainTime
    log.debug('actions in progress may continue', { seconds: Math.floor(leftMs / 100) / 10 })
    await Promise.all([...schedulers.values()].map((scheduler) => scheduler.idle(leftMs)))
  })
  const addresses = config.servers.map(({ name, listener: { tls } }) => {
    const listener = existing(listeners, name)
    return { name, address: listener.address, isSecure: tls !== undefined, doors: () => listener.doors() }
  })
  return { addresses, security }
}

interface Started {
  readonly addresses: readonly ServedAddress[]
  readonly security: Security | undefined
}

/** A disk that does not answer must not delay the start; its store will say so. */
const warnOfMachine = async (config: Config, log: Log): Promise<void> => {
  const findings = await within(MACHINE_CHECK_MS, startFindings(config))
  if (findings === LATE) return
  for (const { subject, message, advice } of findings) log.warn(message, { of: subject, advice })
}

const MACHINE_CHECK_MS = 1000

const closeAll = (schedulers: ReadonlyMap<string, Scheduler>): void => {
  for (const scheduler of schedulers.values()) scheduler.close()
}

/** The gate for the calls of a server; undefined without security. */
const gateOf = (server: ServerConfig, security: Security | undefined, services: readonly Service[]): Gate | undefined =>
  security?.gateOf({ services, scheduler: server.services.worker_api?.scheduler })

/**
 * The combined properties of a scheduler's workers in this configuration. Workers of other processes are not known
 * here.
 */
const workerFacts = (config: Config, scheduler: string): WorkerFacts => {
  const serving = config.servers.filter(({ services }) => services.worker_api?.scheduler === scheduler)
  const names = new Set(serving.map(({ name }) => name))
  const workers = config.workers.filter(({ server }) => server !== undefined && names.has(server))
  return {
    writeResults: workers.some(({ options }) => !leavesResultsTo(config.servers, options.upload_action_result)),
    maxTimeoutMs: Math.max(...workers.map(({ options }) => options.max_action_timeout_s * 1000), MIN_ACTION_TIMEOUT_MS),
  }
}

/** The timeout if no worker of this process allows a longer one: the default of a worker's configuration. */
const MIN_ACTION_TIMEOUT_MS = defaultNumber('worker/local.json', 'max_action_timeout_s') * 1000

/** A view of every named store. */
const viewsOf = (stores: ReadonlyMap<string, Store>, asView: (store: Store) => Store): ((name: string) => Store) => {
  const views = new Map([...stores].map(([name, store]) => [name, asView(store)]))
  return (name) => existing(views, name)
}

/** The configuration was checked, so an unknown name is an internal error. */
const existing = <T>(parts: ReadonlyMap<string, T>, name: string): T => {
  const part = parts.get(name)
  if (part === undefined) throw new Error(`nothing named ${name} was built`)
  return part
}
