import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Hello, SchedulerMessage, WorkerMessage } from '../../proto/generated/remexec.worker.v1.js'
import type { RpcCall } from '../../rpc/rpc.js'
import type { WorkerUpstream } from '../../scheduler/scheduler.js'
import { LentStoreServer, type LentStores } from '../../store/lent/server.js'
import { Room } from '../../work/room.js'
import { awaitHello } from '../hello.js'

export type LentStoresByKey = (key: string) => LentStores | undefined

export interface Relayed {
  readonly requests: Readable
  readonly responses: Writable
  /** To the server that leads the queue. */
  readonly upstream: WorkerUpstream
  readonly lentStores: LentStoresByKey | undefined
  readonly clock: Clock
}

/**
 * Passes the messages of a worker to the server that leads, and its answers back. What the worker asks of the stores of this server,
 * which started it, stays here. Each direction waits for room in the other stream; the end of one ends both.
 */
export const relayWorker = async (relayed: Relayed, call: RpcCall): Promise<void> => {
  const { requests, responses, upstream, lentStores, clock } = relayed
  const stopWaiting = awaitHello(clock, (error) => requests.destroy(error))
  const room = new Room(upstream)
  const back = new Room(responses)
  let stores: LentStoreServer | undefined
  const backwards = async (): Promise<void> => {
    for await (const message of upstream as AsyncIterable<SchedulerMessage>) {
      if (!responses.write(message)) await back.free()
    }
    throw new StatusError('UNAVAILABLE', 'the server that leads the queue ended the stream of this worker')
  }
  const answered = backwards().catch((error: unknown) => void requests.destroy(StatusError.from(error)))
  try {
    for await (const message of requests as AsyncIterable<WorkerMessage>) {
      stopWaiting()
      const { hello, storeRequest } = message
      if (storeRequest !== null) {
        if (stores === undefined) throw withoutKey()
        const told = stores.receive(storeRequest, async (answer) => {
          responses.write({ storeResponse: { id: storeRequest.id, ...answer } })
          await back.free()
        })
        told.catch((error: unknown) => requests.destroy(StatusError.from(error)))
        continue
      }
      const lent = hello === null ? undefined : lentTo(hello, lentStores)
      if (lent !== undefined) stores = new LentStoreServer(lent, call)
      // The key is that of this server.
      const passed = hello === null ? message : { hello: { ...hello, storeKey: '' } }
      if (!upstream.write(passed)) await room.free()
    }
  } finally {
    stopWaiting()
    room.close()
    back.close()
    stores?.close()
    upstream.destroy()
    await answered
  }
}

/** PERMISSION_DENIED for an unknown key, because not every worker that may connect may use the stores directly. */
export const lentTo = (
  { storeKey }: Pick<Hello, 'storeKey'>,
  lentStores: LentStoresByKey | undefined,
): LentStores | undefined => {
  if (storeKey === '') return undefined
  const lent = lentStores?.(storeKey)
  if (lent === undefined) throw new StatusError('PERMISSION_DENIED', 'Hello: store_key is unknown to this server')
  return lent
}

export const withoutKey = (): StatusError =>
  new StatusError(
    'PERMISSION_DENIED',
    'a store request of a worker without store_key, expected one from a worker that this server started',
  )
