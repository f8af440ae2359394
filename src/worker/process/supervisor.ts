import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import type { HealthStatus } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import { forwardLines } from '../../log/forwarded.js'
import type { Log } from '../../log/log.js'
import { Backoff } from '../../work/backoff.js'
import { within } from '../../work/deadline.js'
import type { FromWorkerProcess, StartWorker, ToWorkerProcess } from './messages.js'

export interface WorkerProcessParts {
  readonly name: string
  readonly options: LocalWorkerOptions
  readonly address: string
  readonly token: string | undefined
  readonly writesResults: boolean
  /** Absolute paths that confined actions do not see. */
  readonly hidden: readonly string[]
  /** The program of the process, which handles these messages. */
  readonly program: string
  /** Lends the stores of this process to the holder of the key, until the returned function is called. */
  readonly lend: (key: string) => () => void
  readonly log: Log
}

const FIRST_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 30_000
/** A process that ran longer than this resets the backoff. */
const STEADY_MS = 60_000
/** Time for the rest of a stop, after the actions have ended or were killed. */
const FAREWELL_MS = 10_000

/**
 * A worker in its own process. If the process ends unexpectedly, it is restarted with backoff. It ends with this
 * process, however that ends, because the channel between them closes.
 */
export class WorkerProcess {
  readonly name: string
  readonly #parts: WorkerProcessParts
  #process: ChildProcess | undefined
  #health: HealthStatus = { state: 'Initializing', message: 'the process of the worker starts' }
  readonly #backoff = new Backoff({ firstMs: FIRST_BACKOFF_MS, maxMs: MAX_BACKOFF_MS })
  #restart: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(parts: WorkerProcessParts) {
    this.name = parts.name
    this.#parts = parts
  }

  /** Resolves once the worker runs. Rejects like `startLocalWorker`, and with UNAVAILABLE if its process dies. */
  static async start(parts: WorkerProcessParts): Promise<WorkerProcess> {
    const worker = new WorkerProcess(parts)
    try {
      await worker.#begin()
      return worker
    } catch (error) {
      worker.#isClosed = true
      clearTimeout(worker.#restart)
      throw error
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  health(): HealthStatus {
    return this.#health
  }

  /** Like `LocalWorker.close`; the process has ended afterwards. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const child = this.#process
    if (child === undefined) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    send(child, { kind: 'stop', drainMs })
    await within(drainMs + FAREWELL_MS, ended)
    if (this.#process !== child) return
    child.kill('SIGKILL')
    await ended
  }

  #begin(): Promise<void> {
    const { name, options, address, token, writesResults, hidden, program, lend, log } = this.#parts
    const storeKey = randomBytes(32).toString('hex')
    const takeBack = lend(storeKey)
    const child = forkWorker(program, options)
    const sinceMs = performance.now()
    this.#process = child
    forwardLines(child.stderr, (text) => log.warn('the process of a worker writes', { worker: name, text }))
    return new Promise((resolve, reject) => {
      child.on('message', (message: FromWorkerProcess) => {
        if (message.kind === 'started') resolve()
        else if (message.kind === 'failed') reject(new StatusError(message.code as 'INTERNAL', message.message))
        else if (message.kind === 'health') this.#health = message.status
        else log[message.level](message.message, message.fields)
      })
      const lost = (reason: string): void => {
        takeBack()
        if (this.#process !== child) return
        this.#process = undefined
        reject(new StatusError('UNAVAILABLE', `its process ended: ${reason}`))
        if (!this.#isClosed) this.#lost(reason, performance.now() - sinceMs)
      }
      child.on('error', (error) => lost(error.message))
      child.once('exit', (code, signal) => lost(signal ?? `exit code ${code}`))
      const {
        log: { level: logLevel = 'debug' },
      } = this.#parts
      const about = { name, options, address, token, storeKey, writesResults, hidden, logLevel }
      const start: StartWorker = { kind: 'start', ...about }
      send(child, start)
    })
  }

  #lost(reason: string, livedMs: number): void {
    const { name, log } = this.#parts
    if (livedMs > STEADY_MS) this.#backoff.reset()
    const retryMs = this.#backoff.next()
    log.error('the process of a worker ended and is started again', { worker: name, reason, retryMs })
    this.#health = { state: 'Failed', message: 'its process ended and is started again', error: reason }
    this.#restart = guardedTimeout(() => {
      this.#begin().catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        log.error('a worker could not be started again', { worker: name, reason: message })
        this.#process?.kill('SIGKILL')
      })
    }, retryMs)
  }
}

/** A message to a dead process is dropped; its 'exit' event handles that case. */
const send = (child: ChildProcess, message: ToWorkerProcess): void => {
  if (child.connected) child.send(message, () => {})
}

const forkWorker = (program: string, options: LocalWorkerOptions): ChildProcess => {
  const isSource = extname(program) === '.ts'
  return fork(program, {
    // Protects the process from the terminal's signals to this one, so that its actions may finish.
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: isSource ? process.env : environmentOf(options),
    // When run from sources, it needs the TypeScript loader of this process.
    execArgv: isSource ? process.execArgv : [],
  })
}

const PASSED_ON =
  /^(PATH|HOME|USER|TMPDIR|TZ|LANG|LC_\w+|NODE_\w+|SSL_CERT_\w+|OTEL_\w+|REMEXEC_(LOG|OTLP)_\w+|(HTTPS?|NO)_PROXY|(https?|no)_proxy)$/

/** Commands can read the environment of their worker, so it gets only the variables that it needs. */
const environmentOf = ({ additional_environment }: LocalWorkerOptions): NodeJS.ProcessEnv => {
  const wanted = new Set(
    [...additional_environment].filter(([, from]) => from === 'from_environment').map(([name]) => name),
  )
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name) || wanted.has(name)))
}
