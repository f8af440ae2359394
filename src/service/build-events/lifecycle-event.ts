import { StatusError } from '../../base/status-error.js'
import type { EventStream } from '../../builds/invocation.js'
import { Stream } from '../../builds/log/record.js'
import { statusIn } from '../../builds/stored-event.js'
import { decodeLifecycleEvent } from '../../proto/build-events.js'
import type { Unary } from '../../rpc/rpc.js'
import type { BuildEventOptions } from './options.js'
import { aboutOf, holderOf, orderedEvent } from './request.js'

const EMPTY = Buffer.alloc(0)

/**
 * An event of the controller, kept in the log of its invocation. The first event of a build comes before there is an
 * invocation and says nothing but that, so it is acknowledged only.
 */
export const lifecycleEvent =
  (options: BuildEventOptions): Unary<Buffer, Buffer> =>
  async (request, call) => {
    const named = decodeLifecycleEvent(request)
    const { buildEvent, checkPrecedingLifecycleEventsPresent: checksOrder } = named
    const { streamId, number, event } = orderedEvent(buildEvent)
    const isOfBuild = streamId.invocationId === ''
    const status = statusIn(event)
    const invocationId = isOfBuild ? (status?.finalInvocationId ?? '') : streamId.invocationId
    if (invocationId === '') {
      if (number > 1 && checksOrder) throw outOfOrder(number)
      return EMPTY
    }
    const stream: EventStream = isOfBuild ? Stream.build : Stream.invocation
    const { invocation, leave } = await options.builds.join(
      aboutOf({ buildId: streamId.buildId, invocationId }, named, call, options),
    )
    try {
      const reservation = options.ledger.kinds.events.reserveOrThrow(holderOf(call, options), event.length)
      await invocation.append({ stream, number, event, reservation, mayLeaveOut: !checksOrder || isOfBuild })
      return EMPTY
    } finally {
      await leave()
    }
  }

const outOfOrder = (number: number): StatusError =>
  new StatusError('FAILED_PRECONDITION', `lifecycle event ${number} names no invocation, and none came before it`)
