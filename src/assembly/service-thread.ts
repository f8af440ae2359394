import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.js'
import { Ledger } from '../ledger/ledger.js'
import type { Log, LogFields, LogLevel } from '../log/log.js'
import { type LoggedLine, sendableFields } from '../log/sendable.js'
import { BatchedPort, type Carried } from '../server/carry/batched-port.js'
import { Carrier } from '../server/carry/carrier.js'
import { ToThread } from '../server/carry/events.js'
import { READY, type ThreadMessage } from '../server/carry/service-threads.js'
import { ThreadListener } from '../server/carry/thread-listener.js'
import type { ServiceThreadData } from './service-threads.js'

// The program of a service thread. An error that nobody catches ends the thread, and the owner ends the process.

const { ledgerBuffer } = workerData as ServiceThreadData
const owner = parentPort
if (owner === null) throw new Error('this is the program of a service thread')

/** The owner writes the lines, as far as its level says. */
const log: Log = (() => {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields | (() => LogFields) = {}): void => {
      const found = typeof fields === 'function' ? fields() : fields
      const line: LoggedLine = { kind: 'log', level, message, fields: sendableFields(found) }
      owner.postMessage(line)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
})()

const ledger = new Ledger({}, { buffer: ledgerBuffer })
const carrier = new Carrier(new BatchedPort(owner))
const listeners = new Map<number, ThreadListener>()

const receive = (event: Carried): void => {
  if (carrier.receive(event)) return
  const [kind, number, listener, fd, row, isUnix] = event
  if (kind !== ToThread.SOCKET) throw new Error(`the owner sent an event of the unknown kind ${kind}`)
  const handed = { number, fd: fd as number, row: row as number, isUnix: isUnix === true }
  listeners.get(listener as number)?.take(handed)
}

owner.on('message', (message: readonly Carried[] | ThreadMessage) => {
  if (Array.isArray(message)) for (const event of message) receive(event)
  else {
    const told = message as ThreadMessage
    if (told.kind === 'tls') listeners.get(told.number)?.renewTls(told.tls)
    else listeners.set(told.number, new ThreadListener(told.options, { carrier, ledger, clock: systemClock, log }))
  }
})
owner.postMessage(READY)
