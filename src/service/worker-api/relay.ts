import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { SchedulerMessage, WorkerMessage } from '../../proto/generated/remexec.worker.v1.js'
import type { RpcCall } from '../../rpc/rpc.js'
import type { WorkerUpstream } from '../../scheduler/scheduler.js'
import { type LentStoreResponse, LentStoreServer } from '../../store/lent/server.js'
import { Room } from '../../work/room.js'
import { awaitHello } from '../hello.js'
import { checkNoHello, helloOf } from './hello.js'
import { answerLent, type LentStoresByKey, lentTo } from './lent-requests.js'

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
  const answers = {
    send: async (id: number, answer: LentStoreResponse): Promise<void> => {
      responses.write({ storeResponse: { id, ...answer } })
      await back.free()
    },
    fail: (error: StatusError) => void requests.destroy(error),
  }
  let isGreeted = false
  try {
    for await (const message of requests as AsyncIterable<WorkerMessage>) {
      const { storeRequest } = message
      if (!isGreeted) {
        const hello = helloOf(message)
        const lent = lentTo(hello, lentStores)
        stores = lent && new LentStoreServer(lent, call)
        isGreeted = true
        stopWaiting()
        // The key is that of this server.
        if (!upstream.write({ hello: { ...hello, storeKey: '' } })) await room.free()
      } else if (storeRequest !== null) answerLent(storeRequest, stores, answers)
      else {
        checkNoHello(message)
        if (!upstream.write(message)) await room.free()
      }
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
