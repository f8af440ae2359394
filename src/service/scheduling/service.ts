import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { FrontMessage } from '../../proto/generated/remexec.scheduler.v1.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import { checkHello, serveFront } from '../../scheduler/fronts/join.js'
import type { PeerDoor, Scheduler } from '../../scheduler/scheduler.js'
import type { ExecutionInstance } from '../execution/instance.js'
import { awaitHello } from '../hello.js'
import { type Instances, instanceOf } from '../instance.js'

export interface SchedulingOptions {
  readonly instances: Instances<Pick<ExecutionInstance, 'scheduler'>>
  readonly ledger: Ledger
  readonly clock: Clock
}

/** The endpoint for servers that forward actions to this one, one stream each. An invalid message ends the stream. */
export const schedulingService = ({ instances, ledger, clock }: SchedulingOptions): Service => ({
  name: 'remexec.scheduler.v1.Scheduling',
  bidirectional: {
    Join: async (requests: Readable, responses: Writable, call: RpcCall): Promise<void> => {
      const messages = (requests as AsyncIterable<FrontMessage>)[Symbol.asyncIterator]()
      const stopWaiting = awaitHello(clock, (error) => requests.destroy(error))
      const first = await messages.next().finally(stopWaiting)
      if (first.done === true) return
      const hello = checkHello(first.value)
      const checkInstance = (instanceName: string): void => {
        if (call.visitor?.may('forward', instanceName) ?? true) return
        const shown = JSON.stringify(instanceName)
        throw new StatusError('PERMISSION_DENIED', `this server may not forward in instance ${shown}`)
      }
      const schedulerOf = (instanceName: string): Scheduler => {
        const { scheduler } = instanceOf(instances, instanceName)
        checkInstance(instanceName)
        return scheduler
      }
      const { signal } = call
      const fail = (error: StatusError): void => void requests.destroy(error)
      const stream = { messages, responses, hello }
      if (hello.scheduler === '') await serveFront(stream, { schedulerOf, ledger, clock, signal, fail })
      else await doorOf(instances, hello.scheduler).join({ ...stream, signal, fail, checkInstance })
    },
  },
})

/** Throws FAILED_PRECONDITION if this server has no such scheduler, or one that it shares with nobody. */
const doorOf = (instances: SchedulingOptions['instances'], schedulerName: string): PeerDoor => {
  for (const { scheduler } of instances.values()) if (scheduler.peers?.name === schedulerName) return scheduler.peers
  const shown = JSON.stringify(schedulerName)
  const expected = 'expected the same schedulers, with the same experimental_backend, in all servers of one queue'
  throw new StatusError('FAILED_PRECONDITION', `no scheduler ${shown} with peers is served here, ${expected}`)
}
