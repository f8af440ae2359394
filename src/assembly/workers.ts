import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startFailure } from '../base/errno.js'
import type { AttachedWorker, LocalWorkerOptions, ServerConfig } from '../config/config.js'
import type { Listener } from '../server/listener.js'
import type { LentStores } from '../store/lent/server.js'
import type { LocalWorker } from '../worker/local-worker.js'
import type { Observation } from './observation.js'
import type { Parts } from './services.js'

/** The stores that are lent to workers of this machine, by the keys that were made for their processes. */
export class LentStoresByKey {
  readonly #lent = new Map<string, LentStores>()

  /** Until the answer is called. */
  lend(key: string, stores: LentStores): () => void {
    this.#lent.set(key, stores)
    return () => void this.#lent.delete(key)
  }

  of(key: string): LentStores | undefined {
    return this.#lent.get(key)
  }
}

export interface WorkerSurroundings {
  /** Of the configuration. */
  readonly servers: readonly ServerConfig[]
  /** Absolute paths that confined actions do not see: `Config.paths`. */
  readonly hidden: readonly string[]
  /** There is one worker in this process, and nothing else starts programs in it. */
  readonly isAlone: boolean
  readonly listeners: ReadonlyMap<string, Listener>
  /** Says who a worker of ours is, where that is asked. */
  readonly token: string | undefined
  readonly lentStores: LentStoresByKey
  /** Workers of a server run in this process too: for tests that look into it. */
  readonly workersAreHere: boolean
  readonly parts: Parts
  readonly observation: Observation
}

/**
 * Whether what a worker of this process would write to an action cache is just what the servers write: successes, to the
 * action cache of every instance that executes. Then the servers do.
 */
export const leavesResultsTo = (
  servers: readonly ServerConfig[],
  { ac_store, upload_ac_results_strategy: strategy }: LocalWorkerOptions['upload_action_result'],
): boolean => {
  if (ac_store === undefined) return true
  const instances = servers.flatMap(({ services }) => [...services.execution.values()])
  return (
    strategy === 'success_only' && instances.length > 0 && instances.every((instance) => instance.ac_store === ac_store)
  )
}

/**
 * A worker of the configuration. One whose server is in this process has a process of its own, so that nothing it does holds
 * up the server's event loop; a process without its server is there for it anyhow. Either connects to the worker API as any
 * other worker would, wherever that was bound.
 */
export const startWorker = async (placed: AttachedWorker, surroundings: WorkerSurroundings): Promise<LocalWorker> => {
  const { name } = placed.options
  const { health } = surroundings.observation
  const worker = await begin(placed, surroundings).catch((error: unknown) => {
    throw startFailure(`worker ${name}`, error)
  })
  health.register({
    namespace: `/workers/${name}`,
    component: `workers/${name}`,
    structName: 'LocalWorker',
    check: async () => worker.health(),
  })
  return worker
}

const begin = async (
  { options, server }: AttachedWorker,
  { servers, hidden, isAlone, listeners, token, lentStores, workersAreHere, parts, observation }: WorkerSurroundings,
): Promise<LocalWorker> => {
  const { clock, log } = parts
  const { name, cas_fast_slow_store, upload_action_result } = options
  const cas = parts.cas(cas_fast_slow_store)
  const { ac_store, historical_results_store = cas_fast_slow_store } = upload_action_result
  const history = parts.cas(historical_results_store)
  const address = server === undefined ? undefined : listeners.get(server)?.address
  // What is written where the server writes too is left to it: the result needs no way of its own.
  const isLeft = address !== undefined && leavesResultsTo(servers, upload_action_result)
  const results = ac_store === undefined || isLeft ? undefined : parts.ac(ac_store)
  if (address === undefined || workersAreHere) {
    const stores = { cas, results, history }
    const { tracer } = observation
    const { startLocalWorker } = await import('../worker/local-worker.js')
    const about = { name, options, stores, hidden, address, token: address && token, isAlone }
    return startLocalWorker({ ...about, clock, log, tracer })
  }
  const { WorkerProcess } = await import('../worker/process/supervisor.js')
  return WorkerProcess.start({
    ...{ name, options, address, token, hidden, log },
    writesResults: results !== undefined,
    program: fileURLToPath(new URL(`./worker-process${extname(import.meta.url)}`, import.meta.url)),
    lend: (key) => lentStores.lend(key, { cas, results, history, tracer: observation.tracer }),
  })
}
