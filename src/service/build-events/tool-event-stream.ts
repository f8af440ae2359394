import type { Readable } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import { StatusError } from '../../base/status-error.js'
import type { Joined } from '../../builds/builds.js'
import type { Invocation } from '../../builds/invocation.js'
import { Stream } from '../../builds/log/record.js'
import { EVENT_STREAM_BYTES } from '../../ledger/kinds.js'
import type { Reservation } from '../../ledger/reservation.js'
import { decodeToolEvent } from '../../proto/build-events.js'
import type { Bidirectional, ServedCall } from '../../rpc/rpc.js'
import { Acknowledgements } from './acknowledgements.js'
import type { BuildEventOptions } from './options.js'
import { aboutOf, holderOf, orderedEvent } from './request.js'

/**
 * The events of a tool. Each is acknowledged once it is on disk, strictly in the order of the requests. The call ends
 * with OK after the client has half-closed and every event is acknowledged.
 */
export const toolEventStream =
  (options: BuildEventOptions): Bidirectional =>
  async (requests, responses, call) => {
    const room = options.ledger.kinds.event_streams.reserveOrThrow(holderOf(call, options), EVENT_STREAM_BYTES)
    const acknowledgements = new Acknowledgements(responses)
    const watch = new SilenceWatch(requests, options)
    const stop = (): void => {
      requests.destroy(new StatusError('UNAVAILABLE', 'the server stops: open the stream again'))
    }
    whenAborted(options.builds.stopping, stop)
    let joined: Joined | undefined
    let closed = (): void => {}
    try {
      for await (const request of requests as AsyncIterable<Buffer>) {
        watch.heard()
        const isFirst = joined === undefined
        joined = await take(request, joined, { acknowledgements, call, options })
        if (isFirst) closed = options.invocations.opened(joined.invocationId)
      }
      await acknowledgements.all()
      if (joined?.invocation.isFinished) options.invocations.ended(joined.invocationId)
    } catch (error) {
      // Events that are on disk are acknowledged even if a later one is refused, so that it is not resent for ever.
      await acknowledgements.all().catch(() => {})
      throw error
    } finally {
      options.builds.stopping.removeEventListener('abort', stop)
      watch.stop()
      room.release()
      closed()
      await joined?.leave()
    }
  }

interface StreamParts {
  readonly acknowledgements: Acknowledgements
  readonly call: ServedCall
  readonly options: BuildEventOptions
}

const take = async (request: Buffer, joined: Joined | undefined, parts: StreamParts): Promise<Joined> => {
  const { acknowledgements, call, options } = parts
  const named = decodeToolEvent(request)
  const { orderedBuildEvent, checkPrecedingLifecycleEventsPresent: checksOrder } = named
  const { streamId, number, event } = orderedEvent(orderedBuildEvent)
  const now = joined ?? (await options.builds.join(aboutOf(streamId, named, call, options)))
  try {
    acknowledgements.expect(streamId)
    if (checksOrder && now.invocation.lifecycleCount === 0)
      throw new StatusError('FAILED_PRECONDITION', 'no lifecycle event of this invocation came before its tool stream')
    const reservation = await roomFor(event, parts)
    acknowledgements.add(number, appended(now.invocation, number, event, reservation))
    await acknowledgements.whenFew()
    return now
  } catch (error) {
    if (joined === undefined) await now.leave()
    throw error
  }
}

const appended = (invocation: Invocation, number: number, event: Buffer, reservation: Reservation): Promise<void> => {
  try {
    return invocation.append({ stream: Stream.tool, number, event, reservation })
  } catch (error) {
    reservation.release()
    throw error
  }
}

/** Waits while too much waits for the disk, so that the client is not read further. */
const roomFor = ({ length }: Buffer, { call, options }: StreamParts): Promise<Reservation> =>
  options.ledger.kinds.events.whenRoom(holderOf(call, options), length, call.signal)

/** Ends a stream that brings nothing for a long time. */
class SilenceWatch {
  #heardMs: number
  readonly #clock: BuildEventOptions['clock']
  readonly stop: () => void

  constructor(requests: Readable, { clock, maxSilenceMs }: BuildEventOptions) {
    this.#clock = clock
    this.#heardMs = clock.now()
    this.stop = clock.every(Math.ceil(maxSilenceMs / 10), () => {
      if (clock.now() - this.#heardMs < maxSilenceMs) return
      const reason = `no event came for ${maxSilenceMs / 60_000} minutes: open the stream again`
      requests.destroy(new StatusError('UNAVAILABLE', reason))
    })
  }

  heard(): void {
    this.#heardMs = this.#clock.now()
  }
}
