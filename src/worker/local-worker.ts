import { split } from 'shlex'
import type { Clock } from '../base/clock.js'
import type { HealthStatus } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import type { LocalWorkerOptions } from '../config/config.js'
import { lockFolder } from '../files/folder-lock.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { Call } from '../rpc/call.js'
import type { Tracer } from '../rpc/trace.js'
import { LentStoreClient } from '../store/lent/client.js'
import { readAddress, warnOfKeyModes } from '../tls/endpoint.js'
import { within } from '../work/deadline.js'
import { Resources } from '../work/resources.js'
import { type Processes, writesBesideRoot } from './attempt/execution.js'
import { storeOfWorker } from './attempt/fault.js'
import type { ActionContext } from './attempt/request.js'
import { ActionRunner } from './attempt/runner.js'
import { Attempts } from './attempts.js'
import { openGroups } from './cgroup/open.js'
import { Launcher } from './command/launcher.js'
import { Leftovers } from './command/leftovers.js'
import { Orphans } from './command/orphans.js'
import { limitsOf, sandboxOf } from './confinement.js'
import { Connection, type ConnectionOptions, type FromScheduler } from './connection.js'
import { WorkDirectory } from './disk/work-directory.js'
import { openImages } from './image/open.js'
import { openKeptRoots } from './input/open.js'
import { RootsTelling } from './input/telling.js'
import { OutOfMemory } from './limit/out-of-memory.js'
import { openPool } from './persistent/open.js'
import { Telling } from './persistent/telling.js'
import { offeredProperties } from './properties.js'
import { Sickness, type VitalPart } from './sickness.js'
import { WarmKeys } from './warm-keys.js'

export interface LocalWorkerParts {
  /** The configured name, e.g. `worker_0`. Names the worker in results and in the health report. */
  readonly name: string
  readonly options: LocalWorkerOptions
  readonly stores: OwnStores | StoresOfServer
  /** The actual `host:port` of the worker API, if it differs from the configured uri. */
  readonly address?: string | undefined
  /** Authenticates the worker, if the configuration has no credentials. */
  readonly token?: string | undefined
  /** The ledger of this process. */
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly tracer?: Tracer | undefined
  /** Absolute paths that confined actions do not see. */
  readonly hidden?: readonly string[]
  /** Whether nothing else in this process starts long-lived programs. */
  readonly isAlone?: boolean
  /**
   * Starts the commands. Owned by the caller, which may share it between workers. If absent, the worker creates its
   * own.
   */
  readonly launcher?: Launcher
}

/** Stores of this process. */
export interface OwnStores {
  /**
   * The CAS of the worker. It checks uploads and contains the empty blob. It has `files` to link to if its backend
   * does.
   */
  readonly cas: Store
  /** The store named by `upload_action_result.ac_store`, if set. */
  readonly results: Store | undefined
  /** The store named by `upload_action_result.historical_results_store`, or else the CAS. */
  readonly history: Store
}

/** Stores that the server lends to a worker process that it started. */
export interface StoresOfServer {
  readonly key: string
  readonly writesResults: boolean
}

export interface LocalWorker {
  readonly name: string
  health(): HealthStatus
  /** Accepts no more actions, waits for the running ones, and kills those that have not ended within `drainMs`. */
  close(drainMs: number): Promise<void>
}

const FAREWELL_MS = 2_000
/**
 * How long to wait for a predecessor. A worker whose server was killed ends its actions and cleans up for up to
 * `FAREWELL_MS`.
 */
const PREDECESSOR_MS = 5_000

/**
 * Attempts that may wait for a slot, to start without a round trip. Measured with two slots: more than six brought
 * nothing.
 */
const MAX_WAITING = 6

/**
 * Starts a worker in this process. Rejects with FAILED_PRECONDITION if its properties cannot be determined or its work
 * directory cannot be used. Connects in the background.
 */
export const startLocalWorker = async (parts: LocalWorkerParts): Promise<LocalWorker> => {
  const held = new Resources(parts.log)
  try {
    return await start(parts, held)
  } catch (error) {
    await held.close()
    throw error
  }
}

/** Adds its resources, except for the connection, to `held`. */
const start = async (parts: LocalWorkerParts, held: Resources): Promise<LocalWorker> => {
  const { name, options, clock, log } = parts
  const endpoint = await endpointOf(parts)
  const offered = () => offeredProperties(options.platform_properties, fixedVariables(options))
  await offered()
  const sandbox = await sandboxOf(options, parts.hidden ?? [])
  const workDirectory = WorkDirectory.open(options.work_directory, log)
  const unlock = await lockFolder(workDirectory.path, 'another worker', PREDECESSOR_MS).catch(
    async (error: unknown) => {
      await workDirectory.close()
      throw error
    },
  )
  held.add('lock of the work directory', unlock)
  held.add('work directory', async () => {
    await within(FAREWELL_MS, workDirectory.settle())
    await workDirectory.close()
  })
  workDirectory.removeRemains()
  const { container_images: wanted } = options
  let warmKeys: WarmKeys | undefined
  const onChange = (): void => warmKeys?.changed()
  const images = await openImages({ wanted, workDirectory: workDirectory.path, onChange, clock, log }, held)
  const writesBeside = isBesideRoot(options)
  let rootsTelling: RootsTelling | undefined
  const onRoots = (): void => rootsTelling?.changed()
  const keptRoots = openKeptRoots({ options, workDirectory, writesBesideRoot: writesBeside, onChange: onRoots, clock })
  held.add('kept input roots', () => keptRoots?.close())
  const launcher = parts.launcher ?? new Launcher(log)
  const groupOptions = { wanted: options.control_groups, workDirectory: workDirectory.path, libc: launcher.libc, log }
  const grouping = await openGroups(groupOptions, held)
  const orphans = parts.isAlone === true ? Orphans.adopted(launcher.libc) : undefined
  if (keptRoots !== undefined && orphans === undefined && sandbox === undefined) {
    const need = 'Linux with koffi, or use_namespaces: otherwise processes left behind by a command cannot be detected'
    log.warn('directory_cache has no effect here', { expected: need })
  }
  const leftovers = new Leftovers(workDirectory.path, clock, log, orphans)
  held.add('leftovers of actions', () => {
    leftovers.close()
    leftovers.sweep()
  })
  // A second signal ends the process immediately, with all running commands.
  const endAll = (): void => {
    launcher.close()
    leftovers.sweepAll()
  }
  process.once('exit', endAll)
  held.add('end of running commands', () => void process.off('exit', endAll))
  const persistent = openPool({ options, launcher, clock, log, writesBesideRoot: writesBeside })
  held.add('persistent workers', () => persistent?.close())
  const outOfMemory = new OutOfMemory(clock)
  held.add('check for lack of memory', () => outOfMemory.close())
  if (parts.launcher === undefined) held.add('launcher', () => launcher.close())
  // A worker that was killed could not end its commands.
  leftovers.sweep()
  const lent = 'key' in parts.stores ? new LentStoreClient((message) => connection.send(message)) : undefined
  const ownStores = storesOf(parts.stores, lent)
  const hurry = new AbortController()
  const runner = new ActionRunner(
    actionContext(parts, ownStores, {
      launcher,
      leftovers,
      workDirectory,
      outOfMemory,
      sandbox,
      images,
      grouping,
      keptRoots,
      persistent,
      memory: orphans && launcher.libc,
      hurry: hurry.signal,
    }),
  )
  const attempts = new Attempts({
    run: (request) => runner.run(request),
    maxInflight: options.max_inflight_tasks,
    maxWaiting: MAX_WAITING,
    send: (message) => connection.send(message),
  })
  warmKeys = new WarmKeys(
    () => [...(images?.warmKeys ?? []), ...(persistent?.warmKeys ?? []), ...(keptRoots?.warmKeys ?? [])],
    (message) => connection.send(message),
  )
  let toldSick = ''
  const tellSickness = (): void => {
    const { reason } = sick
    if (reason !== toldSick && connection.send({ health: { sick: reason } })) toldSick = reason
  }
  const sick: Sickness = new Sickness({
    parts: vitalParts(ownStores, workDirectory),
    onChange: (reason) => {
      attempts.sick = reason
      tellSickness()
    },
    clock,
    log,
  })
  held.add('health checks of the worker', () => sick.close())
  const telling = persistent && new Telling(persistent, (message) => connection.send(message))
  held.add('what is told of persistent workers', () => telling?.close())
  rootsTelling = keptRoots && new RootsTelling(keptRoots, (message) => connection.send(message), onChange)
  held.add('what is told of kept input roots', () => rootsTelling?.close())
  if (persistent !== undefined) {
    persistent.onChange = () => {
      onChange()
      telling?.changed()
    }
  }
  let isClosing = false
  const connection: Connection = new Connection({
    ...endpoint,
    timeoutMs: options.worker_api_endpoint.timeout * 1000,
    describe: async () => {
      const properties = await offered()
      toldSick = sick.reason
      return {
        name,
        properties,
        maxInflightAttempts: options.max_inflight_tasks,
        maxWaitingAttempts: MAX_WAITING,
        ...{ sick: toldSick, confined: sandbox?.isConfining === true, knowsScopes: true },
        containerImages: images !== undefined,
        warmKeys: warmKeys?.all() ?? [],
        ...('key' in parts.stores && { storeKey: parts.stores.key }),
      }
    },
    attempts: () => attempts.starts,
    onWelcome: () => {
      attempts.welcomed()
      warmKeys?.changed()
      tellSickness()
      telling?.changed()
      onRoots()
      if (isClosing) connection.send({ goingAway: {} })
    },
    onMessage: (message) => {
      if (message.storeResponse === null) dispatch(message, attempts)
      else lent?.receive(message.storeResponse)
    },
    onLost: () => lent?.lost(),
    clock,
    log,
  })
  sick.look()
  connection.start()
  images?.prefetch()
  return {
    name,
    health: () => workDirectory.health() ?? sick.health() ?? connection.health(),
    close: async (drainMs) => {
      isClosing = true
      attempts.close()
      connection.send({ goingAway: {} })
      // Commands that have to be ended have their grace in the same time.
      const graceMs = Math.min(options.termination_grace_s * 1000, drainMs / 4)
      await within(drainMs - graceMs, attempts.idle({ acknowledged: false }))
      attempts.killAll()
      await within(graceMs, attempts.idle({ acknowledged: false }))
      hurry.abort()
      // Without a connection there are no acknowledgements to wait for.
      await within(FAREWELL_MS, attempts.idle({ acknowledged: connection.isWelcome }))
      await connection.close()
      await held.close()
    },
  }
}

const storesOf = (stores: LocalWorkerParts['stores'], lent: LentStoreClient | undefined): OwnStores => {
  if (!('key' in stores)) return stores
  if (lent === undefined) throw new Error('the stores of the server were not opened')
  return { cas: lent.cas, results: stores.writesResults ? lent.results : undefined, history: lent.history }
}

/** The stores of this process are asked each once, and the disk. Stores that a server lends are that server's concern. */
const vitalParts = ({ cas, results, history }: OwnStores, workDirectory: WorkDirectory): readonly VitalPart[] => [
  { name: 'work directory', health: async () => workDirectory.health() ?? { state: 'Ok', message: '' } },
  { name: 'store of inputs and outputs', health: (call) => cas.health(call) },
  ...(results === undefined ? [] : [{ name: 'store of results', health: (call: Call) => results.health(call) }]),
  ...(history === cas ? [] : [{ name: 'store of responses', health: (call: Call) => history.health(call) }]),
]

const dispatch = ({ start, kill, resultAck, drain, readPrinted }: FromScheduler, attempts: Attempts): void => {
  if (start !== null) attempts.start(start)
  else if (kill !== null) attempts.kill(kill.attemptId)
  else if (resultAck !== null) for (const attemptId of resultAck.attemptIds) attempts.acknowledge(attemptId)
  else if (drain !== null) attempts.drain()
  else if (readPrinted !== null) attempts.readPrinted(readPrinted)
}

const actionContext = (
  { name, options, ledger, clock, log, tracer }: LocalWorkerParts,
  { cas: store, results: actionCache, history }: OwnStores,
  processes: Processes,
): ActionContext => {
  const { upload_action_result: policy, experimental_precondition_script: script } = options
  return {
    workerName: name,
    store: storeOfWorker(store),
    processes,
    execution: {
      entrypoint: words(options.entrypoint, 'entrypoint'),
      preconditionScript: script === undefined ? undefined : words(script, 'experimental_precondition_script'),
      additionalEnvironment: options.additional_environment,
      defaultPath: options.default_path,
      maxTimeoutMs: options.max_action_timeout_s * 1000,
      isTimeoutHandledExternally: options.timeout_handled_externally,
      limits: limitsOf(options),
      terminationGraceMs: options.termination_grace_s * 1000,
    },
    results: {
      actionCache,
      strategy: policy.upload_ac_results_strategy,
      history,
      historyStrategy: policy.upload_historical_results_strategy,
      successMessage: policy.success_message_template,
      failureMessage: policy.failure_message_template,
    },
    maxUploadTimeoutMs: options.max_upload_timeout_s * 1000,
    timeoutMessage: options.timeout_message,
    ledger,
    clock,
    log,
    tracer,
  }
}

const isBesideRoot = (options: LocalWorkerOptions): boolean => {
  const { additional_environment: additionalEnvironment, experimental_precondition_script: preconditionScript } =
    options
  return writesBesideRoot({ preconditionScript, additionalEnvironment })
}

const words = (commandLine: string, key: string): string[] => {
  try {
    return split(commandLine)
  } catch (cause) {
    const message = `${key} ${JSON.stringify(commandLine)} cannot be split into words, expected balanced quotes`
    throw new StatusError('INVALID_ARGUMENT', message, { cause })
  }
}

/** The additional variables with a fixed value in the configuration. Query commands get only these. */
const fixedVariables = ({ additional_environment }: LocalWorkerOptions): Record<string, string> => {
  const variables: Record<string, string> = {}
  for (const [name, source] of additional_environment) {
    if (typeof source === 'object' && 'value' in source) variables[name] = source.value
  }
  return variables
}

/** The address of the scheduler, and how to connect to it. */
const endpointOf = async ({ options, address, token, log }: LocalWorkerParts): Promise<Endpoint> => {
  const { uri, tls_config, headers: written } = options.worker_api_endpoint
  const authorization: [string, string][] = token === undefined ? [] : [['authorization', `Bearer ${token}`]]
  const headers = new Map([...authorization, ...written])
  const { host, port, isSecure } = targetOf(uri)
  const endpoint = { address: `${isSecure ? 'grpcs' : 'grpc'}://${host}${port}`, ...(tls_config && { tls_config }) }
  const { target, tls } = await readAddress(endpoint)
  await warnOfKeyModes(endpoint, (message) => log.warn(message, { of: 'worker_api_endpoint' }))
  if (tls === undefined) return { address: address ?? target, headers }
  // The certificate is for the configured host. Only the port is taken from this process's own listener.
  const listenerPort = address === undefined ? port : address.slice(address.lastIndexOf(':'))
  return { address: `${host}${listenerPort}`, headers, tls: async () => (await readAddress(endpoint)).tls ?? tls }
}

type Endpoint = Pick<ConnectionOptions, 'address' | 'headers' | 'tls'>

const targetOf = (uri: string): { readonly host: string; readonly port: string; readonly isSecure: boolean } => {
  const [, scheme = 'grpc', host, port = ''] = /^(?:(\w+):\/\/)?([^/]*?)(:\d+)\/?$/.exec(uri) ?? []
  if (host === undefined || !['grpc', 'http', 'grpcs', 'https'].includes(scheme)) {
    const message = `worker_api_endpoint.uri ${JSON.stringify(uri)}: expected grpc://host:port or grpcs://host:port`
    throw new StatusError('INVALID_ARGUMENT', message)
  }
  return { host: host || '127.0.0.1', port, isSecure: scheme.endsWith('s') }
}
