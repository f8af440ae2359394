import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.js'
import { Ledger } from '../../ledger/ledger.js'
import { isWritten, type Log, type LogFields, type LogLevel } from '../../log/log.js'
import { type LoggedLine, sendableFields } from '../../log/sendable.js'
import { surviveFailures } from '../../process/failures.js'
import { BatchedPort, bufferOf, type Carried } from '../../server/threads/batched-port.js'
import { Carrier } from '../../server/threads/carrier.js'
import { ToThread } from '../../server/threads/events.js'
import {
  type ClosedMessage,
  type ListenerMessage,
  READY,
  type ThreadMessage,
} from '../../server/threads/service-threads.js'
import { ThreadListener } from '../../server/threads/thread-listener.js'
import { inBackground } from '../../work/in-background.js'
import { levelIn, type ServiceThreadData } from './service-threads.js'
import { ServingThread } from './serving-thread.js'
import { SERVED, type ToServingThread } from './thread-calls.js'

// The program of a service thread. An error that nobody catches ends the thread, and the owner ends the process.

const { ledgerBuffer, logLevel, shownShare } = workerData as ServiceThreadData
const levels = new Int32Array(logLevel)
const owner = parentPort
if (owner === null) throw new Error('this is the program of a service thread')

/** The owner writes the lines, as far as its level says. */
const log: Log = (() => {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields | (() => LogFields) = {}): void => {
      if (!isWritten(level, levelIn(levels))) return
      const found = typeof fields === 'function' ? fields() : fields
      const line: LoggedLine = { kind: 'log', level, message, fields: sendableFields(found) }
      owner.postMessage(line)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
})()

surviveFailures(log)

const ledger = new Ledger({}, { buffer: ledgerBuffer })
const serving = new ServingThread((message, transferred = []) => owner.postMessage(message, transferred))
const carrier = new Carrier(new BatchedPort(owner))
const listeners = new Map<number, ThreadListener>()
/** Numbers of those that are not closed. */
const open = new Set<number>()

const receive = (event: Carried): void => {
  if (carrier.receive(event)) return
  const [kind, number, listener, fd, row, isUnix, head] = event
  if (kind !== ToThread.SOCKET) throw new Error(`the owner sent an event of the unknown kind ${kind}`)
  const handed = { number, fd: fd as number, row: row as number, isUnix: isUnix === true, head: bufferOf(head) }
  listeners.get(listener as number)?.take(handed)
}

const listenerOf = ({ options }: ListenerMessage): ThreadListener => {
  const { metrics, invocations, records } = serving
  const calls = { meters: (path: string) => metrics.calls.of(path), shownShare, invocations, records }
  return new ThreadListener(options, { carrier, calls, ledger, clock: systemClock, log })
}

const told = async (message: ThreadMessage | ToServingThread): Promise<void> => {
  if (message.kind === 'listener') {
    open.add(message.number)
    listeners.set(message.number, listenerOf(message))
  } else if (message.kind === 'tls') listeners.get(message.number)?.renewTls(message.tls)
  else if (message.kind === 'close') {
    await listeners.get(message.number)?.close(message.drainMs)
    open.delete(message.number)
    if (open.size === 0) await serving.endUploads()
    serving.tellRest()
    const closed: ClosedMessage = { kind: 'closed', number: message.number }
    owner.postMessage(closed)
  } else
    for (const { listener, services, gate } of await serving.receive(message, { ledger, log }))
      listeners.get(listener)?.serve(services, gate)
  if (message.kind === 'serve') owner.postMessage(SERVED)
}

/** A thread that cannot serve ends by its error, and the process with it. */
const isServe = ({ kind }: { readonly kind: string }): boolean => kind === 'serve'

owner.on('message', (message: readonly Carried[] | ThreadMessage | ToServingThread) => {
  if (Array.isArray(message)) for (const event of message) receive(event)
  else if (isServe(message as ThreadMessage)) void told(message as ToServingThread)
  else inBackground(told(message as ThreadMessage | ToServingThread), log, 'a message of the owner')
})
owner.postMessage(READY)
