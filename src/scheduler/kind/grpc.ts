import type { GrpcSchedulerOptions } from '../../config/config.js'
import { Channel } from '../../store/grpc/channels.js'
import { grpcFailure } from '../../store/grpc/failure.js'
import { Requests } from '../../store/remote/requests.js'
import { readAddress } from '../../tls/endpoint.js'
import { GrpcScheduler } from '../grpc/grpc-scheduler.js'
import { RemoteExecution } from '../grpc/remote-execution.js'
import type { SchedulerKind } from '../kind.js'

/**
 * Hands actions on to another server of the Remote Execution API, under the instance names clients use here. It is reached
 * when it is first asked: that it is not there keeps nobody from starting.
 */
export const grpc: SchedulerKind<GrpcSchedulerOptions> = {
  build: async (
    { endpoint, retry, max_concurrent_requests: maxConcurrent, connections_per_endpoint: count },
    context,
  ) => {
    const address = await readAddress(endpoint)
    const channels = Array.from({ length: count }, () => new Channel(address, endpoint))
    const failureOf = (thrown: unknown) => grpcFailure(address.target, thrown)
    const requests = new Requests({ backend: address.target, retry, maxConcurrent, timeoutMs: CALL_MS, failureOf })
    const remote = new RemoteExecution({ backend: address.target, channels, requests, failureOf })
    const { name, results, clock, newId } = context
    const scheduler = new GrpcScheduler({ name, remote, results, clock, newId })
    context.watch(scheduler.probe)
    return scheduler
  },
}

/** How long an answer may take that nothing has to be waited for. */
const CALL_MS = 30_000
