import { writeSync } from 'node:fs'
import { systemClock } from '../base/clock.js'
import { Code, StatusError } from '../base/status-error.js'
import { version } from '../base/version.js'
import { secretsOf } from '../config/secrets.js'
import { Ledger } from '../ledger/ledger.js'
import { isWritten, type Log, type LogFields, type LogLevel } from '../log/log.js'
import { KnownSecrets } from '../log/secrets.js'
import { sendableFields } from '../log/sendable.js'
import { otlpSettings } from '../otlp/settings.js'
import { reportCrashes } from '../process/crash.js'
import { surviveFailures } from '../process/failures.js'
import { prepareHeap } from '../process/v8-heap.js'
import type { Tracer } from '../rpc/trace.js'
import { inBackground } from '../work/in-background.js'
import { type LocalWorker, startLocalWorker } from '../worker/local-worker.js'
import type { FromWorkerProcess, StartWorker, ToWorkerProcess } from '../worker/process/messages.js'

// The main module of a worker process, which a server starts (worker/process/supervisor.ts). It gets its configuration
// over the channel between the two. When the channel closes, the server is gone; the process then ends immediately,
// with everything it started.

const secrets = new KnownSecrets()
reportCrashes({ write: (text) => writeSync(2, text), secrets })
prepareHeap()

const HEALTH_PERIOD_MS = 500

const send = (message: FromWorkerProcess): void => {
  process.send?.(message, undefined, undefined, () => {})
}

/** Set by the start message. */
let logLevel: LogLevel = 'debug'

/** Sends log lines to the server. */
const log: Log = (() => {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields | (() => LogFields) = {}): void => {
      if (!isWritten(level, logLevel)) return
      const found = typeof fields === 'function' ? fields() : fields
      send({ kind: 'log', level, message, fields: sendableFields(found) })
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
})()

surviveFailures(log)
const clock = systemClock

const start = async (request: StartWorker): Promise<LocalWorker> => {
  const { name, options, address, token, storeKey, writesResults, hidden } = request
  const stores = { key: storeKey, writesResults }
  const about = { name, options, address, token, stores, hidden, isAlone: true }
  return startLocalWorker({ ...about, ledger: new Ledger(), clock, log, tracer: await tracer() })
}

const tracer = async (): Promise<Tracer | undefined> => {
  const { settings } = otlpSettings(process.env)
  if (settings.traces === undefined) return undefined
  const { startTraceExport } = await import('../otlp/trace-export.js')
  const started = await startTraceExport(settings.traces, settings.resourceAttributes, {
    ...{ version: version(), clock, log },
  })
  stopTraces = started.stop
  return started.tracer
}

/** The secrets in a start message and in the environment. */
const secretsIn = ({ token, storeKey, options }: StartWorker): readonly string[] => {
  const headers = [...options.worker_api_endpoint.headers].map(([, value]) => value)
  return [token ?? '', storeKey ?? '', ...headers, ...secretsOf(null, process.env)]
}

let stopTraces = async (): Promise<void> => {}
let starting: Promise<LocalWorker> | undefined
let isStopping = false

const begin = async (request: StartWorker): Promise<void> => {
  secrets.learn(secretsIn(request))
  starting = start(request)
  try {
    const worker = await starting
    send({ kind: 'started' })
    let last = ''
    const tellHealth = (): void => {
      const status = worker.health()
      const text = JSON.stringify(status)
      if (text !== last) send({ kind: 'health', status })
      last = text
    }
    tellHealth()
    clock.every(HEALTH_PERIOD_MS, tellHealth)
  } catch (thrown) {
    const error = StatusError.from(thrown)
    const cause = error.code === Code.INTERNAL && error.cause instanceof Error ? error.cause.message : error.message
    send({ kind: 'failed', code: error.code, message: cause })
    process.exitCode = 1
    process.disconnect()
  }
}

/** Never rejects. */
const stop = async (drainMs: number): Promise<void> => {
  if (isStopping) return
  isStopping = true
  await end(drainMs, 0)
}

const end = async (drainMs: number, status: number): Promise<never> => {
  const worker = await starting?.catch(() => undefined)
  try {
    await worker?.close(drainMs)
    // A worker whose server has gone makes way for those of the next one.
    if (status === 0) await stopTraces()
  } catch (error) {
    log.error('a worker could not stop cleanly', { error })
  }
  process.exit(status)
}

process.on('message', (message: ToWorkerProcess) => {
  if (message.kind === 'start') {
    logLevel = message.logLevel
    inBackground(begin(message), log, 'the start of a worker')
  } else void stop(message.drainMs)
})

/** Like a stop by the server: running actions may end. The server starts a new process, unless it is stopping too. */
const DRAIN_MS = 30_000
process.on('SIGTERM', () => void stop(DRAIN_MS))

process.once('disconnect', () => {
  if (process.exitCode === 1) return
  isStopping = true
  inBackground(end(0, 1), log, 'the end of a worker')
})
