import type { Readable, Writable } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { FrontMessage } from '../../proto/generated/remexec.scheduler.v1.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import type { ExecutionInstance } from '../execution/instance.js'
import { awaitHello } from '../hello.js'
import type { Instances } from '../instance.js'
import { Front } from './front.js'

export interface SchedulingOptions {
  readonly instances: Instances<Pick<ExecutionInstance, 'scheduler'>>
  readonly clock: Clock
}

const PROTOCOL_VERSION = 1
/** Fronts take a connection for lost that was silent for three times as long. */
export const STILL_THERE_MS = 5_000

/** The endpoint for servers that forward actions to this one, one stream each. An invalid message ends the stream. */
export const schedulingService = ({ instances, clock }: SchedulingOptions): Service => ({
  name: 'remexec.scheduler.v1.Scheduling',
  bidirectional: {
    Join: async (requests: Readable, responses: Writable, call: RpcCall): Promise<void> => {
      const messages = (requests as AsyncIterable<FrontMessage>)[Symbol.asyncIterator]()
      const stopWaiting = awaitHello(clock, (error) => requests.destroy(error))
      const first = await messages.next().finally(stopWaiting)
      if (first.done === true) return
      greet(first.value)
      responses.write({ welcome: { stillThereIntervalMs: STILL_THERE_MS } })
      const stop = clock.every(STILL_THERE_MS, () => {
        if (!responses.destroyed && !responses.writableNeedDrain) responses.write({ stillThere: {} })
      })
      const front = new Front({
        ...{ instances, clock, responses, fail: (error) => requests.destroy(error) },
        mayForward: (instanceName) => call.visitor?.may('forward', instanceName) ?? true,
      })
      const gone = (): void => front.close()
      whenAborted(call.signal, gone)
      try {
        for await (const message of { [Symbol.asyncIterator]: () => messages }) await front.receive(message)
        // The front says no more: its clients have gone with it.
      } finally {
        stop()
        front.close()
      }
    },
  },
})

const greet = ({ message, hello }: FrontMessage): void => {
  if (hello === null) {
    const found = message ?? 'an unknown message'
    throw new StatusError('INVALID_ARGUMENT', `the first message of a front is ${found}, expected hello`)
  }
  if (hello.protocolVersion === PROTOCOL_VERSION) return
  const expected = `expected ${PROTOCOL_VERSION}: run releases that speak the same`
  throw new StatusError(
    'FAILED_PRECONDITION',
    `scheduling protocol version ${hello.protocolVersion} is not supported, ${expected}`,
  )
}
