import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.js'
import { Ledger } from '../../ledger/ledger.js'
import { isWritten, type Log, type LogFields, type LogLevel } from '../../log/log.js'
import { sendableFields } from '../../log/sendable.js'
import { surviveFailures } from '../../process/failures.js'
import { Carrier } from '../../server/threads/carrier.js'
import { ThreadChannel } from '../../server/threads/channel.js'
import { ThreadListener } from '../../server/threads/thread-listener.js'
import { levelIn, type ServiceThreadData } from './service-threads.js'
import { type ServedHere, ServingThread } from './serving-thread.js'
import type { ToOwner, ToThread } from './thread-calls.js'

// The program of a service thread. An error that nobody catches ends the thread, and the owner ends the process.

const { ledgerBuffer, logLevel, shownShare } = workerData as ServiceThreadData
const levels = new Int32Array(logLevel)
if (parentPort === null) throw new Error('this is the program of a service thread')
const owner = new ThreadChannel<ToOwner>(parentPort)
// What was told in the turn in which the thread ends: its last lines for the log above all.
process.on('exit', () => owner.flush())

/** The owner writes the lines, as far as its level says. */
const log: Log = (() => {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields | (() => LogFields) = {}): void => {
      if (!isWritten(level, levelIn(levels))) return
      const found = typeof fields === 'function' ? fields() : fields
      owner.send('log', level, message, sendableFields(found))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
})()

surviveFailures(log)

const ledger = new Ledger({}, { buffer: ledgerBuffer })
const serving = new ServingThread(owner)
const carrier = new Carrier(owner)
const listeners = new Map<number, ThreadListener>()
/** Numbers of those that are not closed. */
const open = new Set<number>()

const serve = (served: ServedHere): void => {
  for (const { listener, services, gate } of served) listeners.get(listener)?.serve(services, gate)
}

/** Other files or rules that cannot be used: the thread goes on with those that it has. */
const renew = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    log.error('a message of the owner failed', { error })
  }
}

owner.hear<ToThread>({
  ...carrier.heard,
  ...serving.heard,
  listener: (number, options) => {
    const { metrics, invocations, records } = serving
    const calls = { meters: (path: string) => metrics.calls.of(path), shownShare, invocations, records }
    open.add(number)
    listeners.set(number, new ThreadListener(options, { carrier, calls, ledger, clock: systemClock, log }))
  },
  renewTls: (number, tls) => renew(() => listeners.get(number)?.renewTls(tls)),
  close: async (number, drainMs) => {
    await listeners.get(number)?.close(drainMs)
    open.delete(number)
    if (open.size === 0) await serving.endUploads()
    serving.tellMetrics()
    owner.flush()
  },
  socket: (number, handed) => listeners.get(number)?.take(handed),
  serve: async (served) => serve(await serving.serve(served, { ledger, log })),
  gate: (share) => renew(() => serve(serving.renewGate(share))),
})
