import type { Readable, Writable } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { errorOf } from '../../proto/error-details.js'
import type { Hello, PrintedOutput as Printed, Result, WorkerMessage } from '../../proto/generated/remexec.worker.v1.js'
import { processOf, type ResultOrigin, setOrigin } from '../../reapi/result-origin.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import { type PrintedOutput, WORKER_IDENTITY, type WorkerPool, type WorkerSession } from '../../scheduler/scheduler.js'
import { LentStoreServer, type LentStores } from '../../store/lent/server.js'
import { awaitHello } from '../hello.js'
import { checkNoHello, helloOf, parseHello, shownReason } from './hello.js'
import { persistentIn, rootsIn } from './keeps.js'
import { answerLent, type LentAnswers, lentTo } from './lent-requests.js'
import { relayWorker } from './relay.js'
import { StreamLink } from './stream-link.js'

export interface WorkerApiOptions {
  readonly scheduler: WorkerPool
  /** Whether the blobs and results of an instance must stay invisible to other instances. */
  isIsolated?(instanceName: string): boolean
  /** The stores for a worker process that this server started with this key. */
  readonly lentStores?: (key: string) => LentStores | undefined
  readonly clock: Clock
}

/**
 * The endpoint for workers, one stream each. The scheduler validates their messages; an invalid message ends the
 * stream.
 */
export const workerApiService = (options: WorkerApiOptions): Service => ({
  name: 'remexec.worker.v1.WorkerApi',
  bidirectional: {
    Connect: (requests: Readable, responses: Writable, call: RpcCall) => connect(options, requests, responses, call),
  },
})

const connect = async (
  { scheduler, lentStores, isIsolated = () => false, clock }: WorkerApiOptions,
  requests: Readable,
  responses: Writable,
  call: RpcCall,
): Promise<void> => {
  const { signal } = call
  const caller = callerOf(call)
  const { workerIdentity } = caller
  const upstream = scheduler.upstream?.(workerIdentity, signal)
  if (upstream !== undefined) {
    await relayWorker({ requests, responses, upstream: await upstream, lentStores, clock }, call)
    return
  }
  const link = new StreamLink(responses, requests, {
    keepAliveIntervalMs: scheduler.keepAliveIntervalMs,
    term: scheduler.term,
    ...{ isIsolated, clock, workerIdentity },
  })
  const answers: LentAnswers = { send: (id, answer) => link.answer(id, answer), fail: (error) => link.close(error) }
  const stopWaiting = awaitHello(clock, (error) => link.close(error))
  let session: WorkerSession | undefined
  let stores: LentStoreServer | undefined
  const disconnect = (): void => session?.disconnected()
  whenAborted(signal, disconnect)
  try {
    for await (const message of requests as AsyncIterable<WorkerMessage>) {
      if (session === undefined) {
        const hello = helloOf(message)
        const lent = lentTo(hello, lentStores)
        stores = lent && new LentStoreServer(lent, call)
        link.knowsScopes = hello.knowsScopes
        session = greet(scheduler, hello, link)
        link.onRefused = session.refuse
        stopWaiting()
      } else if (message.storeRequest !== null) answerLent(message.storeRequest, stores, answers)
      else receive(session, message, caller)
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

/** Who a worker is known as. */
interface WorkerCaller {
  /** Whether callers are known at all. */
  readonly isKnown: boolean
  /** For results; undefined if they are to omit it. */
  readonly workerIdentity: string | undefined
}

/** A server that relays a worker says who that is. */
const callerOf = ({ visitor, metadata }: RpcCall): WorkerCaller => {
  const told = visitor?.forwards === true ? metadata.get(WORKER_IDENTITY) : undefined
  const workerIdentity = told === undefined ? visitor?.nameInResults : Buffer.from(String(told), 'base64').toString()
  return { isKnown: visitor !== undefined, workerIdentity }
}

const greet = (scheduler: WorkerPool, hello: Hello, link: StreamLink): WorkerSession => {
  const { offer, previous } = parseHello(hello)
  return scheduler.connectWorker(offer, previous, link)
}

const receive = (session: WorkerSession, message: WorkerMessage, caller: WorkerCaller): void => {
  const { progress, result, goingAway, health, printedOutput, warm, persistentWorkers, keptRoots } = message
  checkNoHello(message)
  if (progress !== null) session.progress(progress.attemptId, progress.stage, shownReason(progress.waitsFor))
  else if (result !== null) receiveResult(session, result, caller)
  else if (printedOutput !== null) session.printed(printedOutput.id, printedIn(printedOutput))
  else if (goingAway !== null) session.goingAway()
  else if (health !== null) session.health(shownReason(health.sick))
  else if (warm !== null) session.warm(warm.added, warm.dropped)
  else if (persistentWorkers !== null) session.keeps({ persistent: persistentIn(persistentWorkers) })
  else if (keptRoots !== null) session.keeps({ roots: rootsIn(keptRoots) })
  // A message of a later protocol version at least shows that the worker is alive.
  else session.keepAlive()
}

const printedIn = ({ runs, stdout, stdoutSize, stderr, stderrSize }: Printed): PrintedOutput | undefined =>
  runs
    ? { stdout: { bytes: stdout, sizeBytes: stdoutSize }, stderr: { bytes: stderr, sizeBytes: stderrSize } }
    : undefined

const receiveResult = (
  session: WorkerSession,
  { attemptId, executeResponse, workerError, refused, givenBack, confined: isConfined }: Result,
  { isKnown, workerIdentity }: WorkerCaller,
): void => {
  if (workerError !== null) session.workerError(attemptId, errorOf(workerError))
  else if (refused !== null) session.refuse(attemptId, errorOf(refused))
  else if (givenBack !== null) session.giveBack(attemptId, givenBack.stops)
  else if (executeResponse === null) session.workerError(attemptId, broken('a result without an outcome'))
  else if (executeResponse.result === null && (executeResponse.status?.code ?? 0) === 0) {
    session.workerError(attemptId, broken('status OK without a result'))
  } else {
    const { result } = executeResponse
    if (result !== null && isKnown) {
      const origin = originAt(session.workerId, workerIdentity)
      setOrigin(result, origin && { ...origin, ...processOf(result) })
    }
    session.report(attemptId, executeResponse, { isConfined })
  }
}

/** The origin of a result by the identity of the worker's connection. The worker's own statement is ignored. */
const originAt = (workerId: string, workerIdentity: string | undefined): ResultOrigin | undefined =>
  workerIdentity === undefined ? undefined : { identity: '', workerId, workerIdentity }

const broken = (what: string): StatusError => new StatusError('INTERNAL', `the worker reported ${what}`)
