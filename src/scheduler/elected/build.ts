import { StatusError } from '../../base/status-error.js'
import type { SimpleSchedulerOptions } from '../../config/config.js'
import { addressText, parseEndpoint } from '../../config/value/address.js'
import { Ledger } from '../../ledger/ledger.js'
import { shownWay } from '../../outgoing/grpc-proxy.js'
import { Channel } from '../../store/kinds/grpc/channels.js'
import { isLostCall } from '../../store/kinds/grpc/failure.js'
import { Requests } from '../../store/remote/requests.js'
import { followAddress } from '../../tls/followed-address.js'
import { executionFailure, RemoteExecution } from '../grpc/remote-execution.js'
import type { BuildContext } from '../kind.js'
import type { Scheduler } from '../scheduler.js'
import { SchedulerHost } from '../simple/host.js'
import { simpleSettings } from '../simple/settings.js'
import { requirementOf } from '../simple/state/requirement.js'
import { ElectedScheduler } from './elected-scheduler.js'
import type { Candidate } from './engine.js'
import { defaultLeaseS, engineOf } from './engines.js'

/** Of calls that do not wait for an action. */
const CALL_MS = 30_000
/** How long a new leader waits for the servers that were there when it was elected. */
const REBUILD_MS = 1_500
const RETRY = { max_retries: 2, delay: 0.1, jitter: 0.5, budget_s: 0 }

/** One of several servers with one queue. Connects in the background, so a server starts without the others and the engine. */
export const buildElected = async (options: SimpleSchedulerOptions, context: BuildContext): Promise<Scheduler> => {
  const { name, clock, log, resources, results, newId, ledger = new Ledger() } = context
  const { peers } = options
  // The configuration was checked.
  if (peers === undefined) throw new StatusError('INVALID_ARGUMENT', 'experimental_backend needs peers')
  const { endpoint } = peers
  const settings = simpleSettings(options)
  const own = await followAddress(endpoint, { of: `scheduler ${name}`, clock, log, resources })
  const candidate: Candidate = { id: newId(), address: endpoint.address, settings: comparable(options) }
  const scheduler = new ElectedScheduler({
    ...{ name, results, ledger, clock, log, newId, candidate },
    engine: await engineOf(options, context),
    leaseMs: (peers.lease_s ?? defaultLeaseS(options)) * 1000,
    whenEngineAway: peers.when_engine_away,
    spread: context.spread,
    waitMs: peers.leader_wait_s * 1000,
    rebuildMs: REBUILD_MS,
    keepAliveIntervalMs: Math.max(1, Math.floor(settings.workerTimeoutMs / 3)),
    checkPlatform: (properties) => void requirementOf(properties, settings.supportedPlatformProperties),
    newHost: (office) => new SchedulerHost({ ...context, settings, office }),
    remoteAt: (address) => {
      const target = addressText(parseEndpoint(address))
      const channel = new Channel({ ...own.current, target }, { ...endpoint, address })
      const backend = shownWay(target)
      const failureOf = (thrown: unknown) => executionFailure(backend, thrown)
      const bounds = { retry: RETRY, maxConcurrent: 0, timeoutMs: CALL_MS }
      const requests = new Requests({ backend, ...bounds, failureOf, isLost: isLostCall })
      return new RemoteExecution({ backend, channels: [channel], requests, headers: peers.headers, failureOf })
    },
  })
  context.watch(scheduler.probe)
  context.observe?.(() => scheduler.activity())
  context.observeElection?.(() => scheduler.election())
  scheduler.start()
  return scheduler
}

/** What all servers of a queue have to agree in: whoever leads decides by its own. */
const comparable = (options: SimpleSchedulerOptions): Record<string, string> => {
  const { peers: _, experimental_backend: __, ...settings } = options
  const texts = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(plain(value))] as const)
  return Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)))
}

const plain = (value: unknown): unknown => (value instanceof Map ? [...value].sort() : value)
