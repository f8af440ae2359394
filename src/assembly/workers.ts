import { fileURLToPath } from 'node:url'
import { startFailure } from '../base/errno.js'
import { programFile } from '../base/package-root.js'
import type { AttachedWorker, LocalWorkerOptions, ServerConfig } from '../config/config.js'
import type { Ledger } from '../ledger/ledger.js'
import type { SecretLearner } from '../log/secrets.js'
import type { Listener } from '../server/listener.js'
import type { LentStores } from '../store/lent/server.js'
import type { LocalWorker } from '../worker/local-worker.js'
import type { Observation } from './observation.js'
import type { Parts } from './services.js'

/** The stores lent to worker processes of this machine, by the key of the process. */
export class LentStoresByKey {
  readonly #lent = new Map<string, LentStores>()
  readonly #secrets: SecretLearner

  constructor(secrets: SecretLearner) {
    this.#secrets = secrets
  }

  /** Lends the stores until the returned function is called. */
  lend(key: string, stores: LentStores): () => void {
    const forgetKey = this.#secrets.learn([key])
    this.#lent.set(key, stores)
    return () => {
      this.#lent.delete(key)
      forgetKey()
    }
  }

  of(key: string): LentStores | undefined {
    return this.#lent.get(key)
  }
}

export interface WorkerContext {
  /** All servers of the configuration. */
  readonly servers: readonly ServerConfig[]
  /** Absolute paths that confined actions do not see: `Config.paths`. */
  readonly hidden: readonly string[]
  /** Whether this is the only worker in the process, and nothing else starts programs in it. */
  readonly isAlone: boolean
  readonly listeners: ReadonlyMap<string, Listener>
  /** Authenticates workers that this process starts. */
  readonly token: string | undefined
  readonly lentStores: LentStoresByKey
  /** Runs the workers of a server in this process too. For tests that inspect them. */
  readonly workersAreHere: boolean
  readonly parts: Parts
  readonly ledger: Ledger
  readonly observation: Observation
}

/**
 * Whether the worker leaves writing results to the servers. It does if it has no action cache, or if it would write
 * the same results as the servers: only successes, to the action cache of every instance with execution.
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
 * Starts a worker of the configuration. If its server is in this process, the worker gets its own process, so that it
 * does not block the server's event loop. Otherwise this process only has workers, and the worker runs in it. In both
 * cases it connects to the worker API like any other worker.
 */
export const startWorker = async (attached: AttachedWorker, context: WorkerContext): Promise<LocalWorker> => {
  const { name } = attached.options
  const { health } = context.observation
  const worker = await begin(attached, context).catch((error: unknown) => {
    throw startFailure(`worker ${name}`, error)
  })
  health.register({
    namespace: `/workers/${name}`,
    component: `workers/${name}`,
    structName: 'LocalWorker',
    isAwaited: true,
    check: async () => worker.health(),
  })
  return worker
}

const begin = async (
  { options, server }: AttachedWorker,
  { servers, hidden, isAlone, listeners, token, lentStores, workersAreHere, parts, ledger, observation }: WorkerContext,
): Promise<LocalWorker> => {
  const { clock, log } = parts
  const { name, cas_fast_slow_store, upload_action_result } = options
  const cas = parts.cas(cas_fast_slow_store)
  const { ac_store, historical_results_store = cas_fast_slow_store } = upload_action_result
  const history = parts.cas(historical_results_store)
  const address = server === undefined ? undefined : listeners.get(server)?.address
  // Results that the server writes anyway are not written by the worker.
  const isLeft = address !== undefined && leavesResultsTo(servers, upload_action_result)
  const results = ac_store === undefined || isLeft ? undefined : parts.ac(ac_store)
  if (address === undefined || workersAreHere) {
    const stores = { cas, results, history }
    const { tracer } = observation
    const { startLocalWorker } = await import('../worker/local-worker.js')
    const about = { name, options, stores, hidden, address, token: address && token, isAlone }
    return startLocalWorker({ ...about, ledger, clock, log, tracer })
  }
  const { WorkerProcess } = await import('../worker/process/supervisor.js')
  return WorkerProcess.start({
    ...{ name, options, address, token, hidden, log },
    writesResults: results !== undefined,
    program: fileURLToPath(programFile('assembly/worker-process.ts')),
    lend: (key) => lentStores.lend(key, { cas, results, history, tracer: observation.tracer }),
  })
}
