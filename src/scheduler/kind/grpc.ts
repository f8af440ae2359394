import type { GrpcSchedulerOptions } from '../../config/config.js'
import { Ledger } from '../../ledger/ledger.js'
import { shownWay } from '../../outgoing/grpc-proxy.js'
import { Channel } from '../../store/kinds/grpc/channels.js'
import { isLostCall } from '../../store/kinds/grpc/failure.js'
import { Requests } from '../../store/remote/requests.js'
import { followAddress } from '../../tls/followed-address.js'
import { GrpcScheduler } from '../grpc/grpc-scheduler.js'
import { executionFailure, RemoteExecution } from '../grpc/remote-execution.js'
import type { SchedulerKind } from '../kind.js'

/**
 * Forwards actions to another server of the Remote Execution API, under the same instance names. Connects on
 * the first call, so an unreachable server does not prevent the start.
 */
export const grpc: SchedulerKind<GrpcSchedulerOptions> = {
  build: async (
    {
      endpoint,
      retry,
      max_concurrent_requests: maxConcurrent,
      connections_per_endpoint: count,
      scheduler_wait_s: waitS,
      headers,
    },
    context,
  ) => {
    const { name, results, clock, log, resources, newId, ledger = new Ledger() } = context
    const address = await followAddress(endpoint, { of: `scheduler ${name}`, clock, log, resources })
    const backend = shownWay(address.current.target)
    const channels = Array.from({ length: count }, () => new Channel(address.current, endpoint))
    address.onChange((now) => {
      for (const channel of channels) channel.renew(now)
    })
    const failureOf = (thrown: unknown) => executionFailure(backend, thrown)
    const requests = new Requests({ backend, retry, maxConcurrent, timeoutMs: CALL_MS, failureOf, isLost: isLostCall })
    const remote = new RemoteExecution({ backend, channels, requests, headers, failureOf })
    const scheduler = new GrpcScheduler({
      ...{ name, remote, results, ledger, clock, log, newId },
      waitMs: waitS * 1000,
    })
    context.watch(scheduler.probe)
    return scheduler
  },
}

/** Timeout of calls that do not wait for an action. */
const CALL_MS = 30_000
