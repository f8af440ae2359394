import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import type { Visitor } from '../../base/gate.js'
import type { RpcCall, Service } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import { errorOf } from '../../proto/error-details.js'
import type { Hello, Result, StoreRequest, WorkerMessage } from '../../proto/generated/remexec.worker.v1.js'
import { type ResultOrigin, setOrigin } from '../../reapi/result-origin.js'
import type { WorkerPool, WorkerSession } from '../../scheduler/scheduler.js'
import { parseHello } from './hello.js'
import { type LentStores, StoreRequests } from './store-requests.js'
import { StreamLink } from './stream-link.js'

export interface WorkerApiOptions {
  readonly scheduler: WorkerPool
  /** Whether nothing of an instance is to be seen in others. */
  isIsolated?(instanceName: string): boolean
  /** The stores lent to the worker that was given this key when this server started it. */
  readonly lentStores?: (key: string) => LentStores | undefined
  readonly clock: Clock
  /** How long a connection may stay without a Hello. */
  readonly helloTimeoutMs?: number
}

const HELLO_TIMEOUT_MS = 10_000

/** Where workers connect: one stream each. What they say is judged by the scheduler; garbage ends the stream. */
export const workerApiService = (options: WorkerApiOptions): Service => ({
  name: 'remexec.worker.v1.WorkerApi',
  bidirectional: {
    Connect: (requests: Readable, responses: Writable, call: RpcCall) => connect(options, requests, responses, call),
  },
})

const connect = async (
  { scheduler, lentStores, isIsolated = () => false, clock, helloTimeoutMs = HELLO_TIMEOUT_MS }: WorkerApiOptions,
  requests: Readable,
  responses: Writable,
  call: RpcCall,
): Promise<void> => {
  const { signal } = call
  const link = new StreamLink(responses, requests, {
    keepAliveIntervalMs: scheduler.keepAliveIntervalMs,
    isIsolated,
    clock,
    workerIdentity: call.visitor?.nameInResults,
  })
  const stopWaiting = clock.every(helloTimeoutMs, () => {
    link.close(new StatusError('DEADLINE_EXCEEDED', `no Hello within ${helloTimeoutMs / 1000} s`))
  })
  let session: WorkerSession | undefined
  let stores: StoreRequests | undefined
  const disconnect = (): void => session?.disconnected()
  signal.addEventListener('abort', disconnect)
  try {
    for await (const message of requests as AsyncIterable<WorkerMessage>) {
      if (session === undefined) {
        const hello = helloOf(message)
        const lent = lentTo(hello, lentStores)
        stores = lent && new StoreRequests(lent, call)
        session = greet(scheduler, hello, link)
        stopWaiting()
      } else if (message.storeRequest !== null) answer(message.storeRequest, stores, link)
      else receive(session, message, call)
    }
    if (link.failure !== undefined) throw link.failure
  } finally {
    stopWaiting()
    signal.removeEventListener('abort', disconnect)
    link.end()
    stores?.close()
    session?.disconnected()
  }
}

/** PERMISSION_DENIED for a key that nobody was given: what it opens is not for everybody who may connect. */
const lentTo = ({ storeKey }: Hello, lentStores: WorkerApiOptions['lentStores']): LentStores | undefined => {
  if (storeKey === '') return undefined
  const lent = lentStores?.(storeKey)
  if (lent === undefined) throw new StatusError('PERMISSION_DENIED', 'Hello: store_key is not one this server gave')
  return lent
}

const answer = (request: StoreRequest, stores: StoreRequests | undefined, link: StreamLink): void => {
  if (stores === undefined) {
    const expected = 'expected one from a worker that this server started'
    throw new StatusError('PERMISSION_DENIED', `a store request of a worker without store_key, ${expected}`)
  }
  void stores.receive(request, (storeAnswer) => link.answer(request.id, storeAnswer))
}

const helloOf = (message: WorkerMessage): Hello => {
  if (message.hello !== null) return message.hello
  const found = message.message ?? 'an unknown message'
  throw new StatusError('INVALID_ARGUMENT', `the first message of a worker is ${found}, expected hello`)
}

const greet = (scheduler: WorkerPool, hello: Hello, link: StreamLink): WorkerSession => {
  const { offer, previous } = parseHello(hello)
  return scheduler.connectWorker(offer, previous, link)
}

const receive = (session: WorkerSession, message: WorkerMessage, call: RpcCall): void => {
  const { hello, progress, result, goingAway } = message
  if (hello !== null) throw new StatusError('INVALID_ARGUMENT', 'a second hello came on one stream, expected one')
  if (progress !== null) session.progress(progress.attemptId, progress.stage)
  else if (result !== null) receiveResult(session, result, call)
  else if (goingAway !== null) session.goingAway()
  // A message of a later protocol says at least that the worker lives.
  else session.keepAlive()
}

const receiveResult = (
  session: WorkerSession,
  { attemptId, executeResponse, workerError, refused, givenBack }: Result,
  { visitor }: RpcCall,
): void => {
  if (workerError !== null) session.workerError(attemptId, errorOf(workerError))
  else if (refused !== null) session.refuse(attemptId, errorOf(refused))
  else if (givenBack !== null) session.giveBack(attemptId)
  else if (executeResponse === null) session.workerError(attemptId, broken('a result without an outcome'))
  else if (executeResponse.result === null && (executeResponse.status?.code ?? 0) === 0) {
    session.workerError(attemptId, broken('status OK without a result'))
  } else {
    if (executeResponse.result !== null && visitor !== undefined)
      setOrigin(executeResponse.result, originAt(session.workerId, visitor))
    session.report(attemptId, executeResponse)
  }
}

/** Where a result comes from as far as a connection of a worker tells: what it says of that itself is nothing. */
const originAt = (workerId: string, { nameInResults: workerIdentity }: Visitor): ResultOrigin | undefined =>
  workerIdentity === undefined ? undefined : { identity: '', workerId, workerIdentity }

const broken = (what: string): StatusError => new StatusError('INTERNAL', `the worker reported ${what}`)
