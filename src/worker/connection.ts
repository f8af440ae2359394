import { Client, type ClientDuplexStream, credentials, Metadata, status } from '@grpc/grpc-js'
import type { Clock } from '../base/clock.js'
import type { HealthStatus } from '../base/health.js'
import { Code, codeName, StatusError } from '../base/status-error.js'
import { guardedInterval, guardedTimeout } from '../base/timers.js'
import type { Log } from '../log/log.js'
import { grpcWay, shownWay } from '../outgoing/grpc-proxy.js'
import type { Codec } from '../proto/codec.js'
import { codec, type Input, type Output } from '../proto/codec.js'
import type { Start } from '../proto/generated/remexec.worker.v1.js'
import { serviceDefinition } from '../proto/service-definition.js'
import type { TlsFiles } from '../tls/endpoint.js'
import { Backoff } from '../work/backoff.js'
import { HeardTerm } from './heard-term.js'

export type ToScheduler = Input<'remexec.worker.v1.WorkerMessage'>
export type FromScheduler = Output<'remexec.worker.v1.SchedulerMessage'>
type Welcome = Output<'remexec.worker.v1.Welcome'>
type Hello = Input<'remexec.worker.v1.Hello'>
type Stream = ClientDuplexStream<ToScheduler, FromScheduler>

export interface ConnectionOptions {
  /** `host:port` of the worker API. */
  readonly address: string
  /** Reads the TLS files before each connection; absent without TLS. */
  readonly tls?: (() => Promise<TlsFiles>) | undefined
  /** Metadata of the stream. */
  readonly headers: ReadonlyMap<string, string>
  /** A connection attempt without a welcome ends after this time. Keepalives are sent at least twice in it. */
  readonly timeoutMs: number
  /** The worker's name and properties; called before each connection. */
  readonly describe: () => Promise<
    Pick<
      Hello,
      | 'name'
      | 'properties'
      | 'maxInflightAttempts'
      | 'maxWaitingAttempts'
      | 'storeKey'
      | 'confined'
      | 'knowsScopes'
      | 'containerImages'
      | 'warmKeys'
    >
  >
  /** Attempts that run or are not acknowledged; called when the Hello is sent. */
  readonly attempts: () => readonly Start[]
  /** Called when the scheduler has accepted this worker, after each connection. */
  readonly onWelcome: () => void
  readonly onMessage: (message: FromScheduler) => void
  /** Called when the connection is lost: pending requests get no answers. */
  readonly onLost?: () => void
  readonly clock: Clock
  readonly log: Log
  /** 0 to 1; spreads the reconnections of many workers. */
  readonly random?: () => number
}

/** Why there is no connection, for operators. */
type Trouble =
  | 'the properties of this worker are not known'
  | 'this worker cannot connect with the files of its tls_config'
  | 'the scheduler refuses this worker'
  | typeof LOST

const LOST = 'no connection to the scheduler'

/** Errors that last until an operator changes something, and the likely remedy. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [
    Code.INVALID_ARGUMENT,
    'platform_properties of the worker and supported_platform_properties of the scheduler have to agree',
  ],
  [Code.FAILED_PRECONDITION, 'the worker and the scheduler have to be of the same release'],
  [Code.UNIMPLEMENTED, 'nothing serves the worker API there: worker_api_endpoint.uri may be wrong'],
  [Code.UNAUTHENTICATED, 'headers or tls_config of worker_api_endpoint have to authenticate this worker'],
  [Code.PERMISSION_DENIED, 'security.access of the scheduler has to grant this worker "work"'],
])

const PROTOCOL_VERSION = 1
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 10_000
const MIN_KEEP_ALIVE_MS = 20

const connectPath = serviceDefinition('remexec.worker.v1.WorkerApi').methods.find(({ name }) => name === 'Connect')
const toScheduler = codec('remexec.worker.v1.WorkerMessage')
const fromScheduler: Codec<object, FromScheduler> = codec('remexec.worker.v1.SchedulerMessage')

const CHANNEL_OPTIONS = {
  // Each worker has its own connection, so that a failure of one does not affect others.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
}

/**
 * The worker's side of remexec.worker.v1: one stream, reopened with backoff after every loss. Messages sent without a
 * connection are dropped; after the next welcome the caller must send again what is still relevant.
 */
export class Connection {
  readonly #options: ConnectionOptions
  #workerId = ''
  #workerKey = ''
  readonly #heard = new HeardTerm()
  #stream: Stream | undefined
  #isWelcome = false
  readonly #backoff: Backoff
  #lostMs: number
  #trouble: { readonly kind: Trouble; readonly text: string } | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#lostMs = options.clock.now()
    const { random = Math.random } = options
    this.#backoff = new Backoff({ firstMs: FIRST_BACKOFF_MS, maxMs: MAX_BACKOFF_MS, random })
  }

  /** The id assigned by the scheduler; empty before the first welcome. */
  get workerId(): string {
    return this.#workerId
  }

  get isWelcome(): boolean {
    return this.#isWelcome
  }

  start(): void {
    void this.#connect()
  }

  /** Returns whether there is a connection. */
  send(message: ToScheduler): boolean {
    if (this.#isWelcome) this.#stream?.write(message)
    return this.#isWelcome
  }

  /** Ends the connection after all sent messages have left. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const stream = this.#stream
    if (stream === undefined) return
    const ended = new Promise<void>((resolve) => stream.once('status', () => resolve()))
    stream.end()
    const timer = guardedTimeout(() => stream.cancel(), 1000)
    await ended
    clearTimeout(timer)
  }

  health(): HealthStatus {
    const { address, timeoutMs, clock } = this.#options
    if (this.#isWelcome) return { state: 'Ok', message: `connected to ${address} as ${this.#workerId}` }
    const { kind = LOST, text = 'no answer' } = this.#trouble ?? {}
    if (kind !== LOST) return { state: 'Failed', message: kind, error: text }
    const message = `connecting to the scheduler at ${shownWay(address)}`
    if (clock.now() - this.#lostMs <= timeoutMs) return { state: 'Initializing', message }
    return { state: 'Failed', message, error: text }
  }

  async #connect(): Promise<void> {
    const { timeoutMs } = this.#options
    const offer = await this.#offer()
    const tls = offer && (await this.#secured())
    if (this.#isClosed || offer === undefined || tls === undefined) return
    try {
      const stream = this.#open(tls)
      const attempts = this.#options.attempts()
      this.#timer = guardedTimeout(() => stream.cancel(), timeoutMs)
      stream.write({
        hello: {
          ...offer,
          protocolVersion: PROTOCOL_VERSION,
          workerId: this.#workerId,
          workerKey: this.#workerKey,
          highestEpoch: this.#heard.epoch,
          termKey: this.#heard.termKey,
          attemptIds: attempts.map(({ attemptId }) => attemptId),
          attempts,
        },
      })
    } catch (error) {
      this.#lost(StatusError.from(error))
    }
  }

  async #offer(): Promise<Awaited<ReturnType<ConnectionOptions['describe']>> | undefined> {
    try {
      return await this.#options.describe()
    } catch (error) {
      this.#lost(StatusError.from(error), 'the properties of this worker are not known')
      return undefined
    }
  }

  /** Null without TLS, undefined if the files cannot be read. */
  async #secured(): Promise<TlsFiles | null | undefined> {
    try {
      return (await this.#options.tls?.()) ?? null
    } catch (error) {
      this.#lost(StatusError.from(error), 'this worker cannot connect with the files of its tls_config')
      return undefined
    }
  }

  #open(tls: TlsFiles | null): Stream {
    const { address, headers } = this.#options
    if (connectPath === undefined) throw new StatusError('INTERNAL', 'protos/ has no remexec.worker.v1.WorkerApi')
    const metadata = new Metadata()
    for (const [name, value] of headers) metadata.set(name, value)
    const client = clientOf(address, tls)
    const stream = client.makeBidiStreamRequest(
      connectPath.path,
      (message: ToScheduler) => toScheduler.encode(message),
      (bytes) => fromScheduler.decode(bytes),
      metadata,
    )
    this.#stream = stream
    stream.on('data', (message: FromScheduler) => this.#receive(message))
    // 'status' follows with the same error. Without a listener, 'error' would end the process.
    stream.on('error', () => {})
    stream.once('status', ({ code, details }) => {
      client.close()
      if (this.#stream !== stream) return
      this.#stream = undefined
      this.#lost(new StatusError(code === status.OK ? 'UNAVAILABLE' : toCode(code), details || 'the stream ended'))
    })
    return stream
  }

  #receive(message: FromScheduler): void {
    if (message.welcome !== null) this.#welcome(message.welcome)
    else this.#options.onMessage(message)
  }

  #welcome(welcome: Welcome): void {
    const { workerId, workerKey, keepAliveIntervalMs: wantedMs, epoch } = welcome
    const { timeoutMs, log, address, onWelcome, clock } = this.#options
    if (!this.#heard.accept(welcome, clock.now())) {
      log.warn('a leader of an earlier term has no say any more', { address, term: epoch, highest: this.#heard.epoch })
      this.#stream?.cancel()
      return
    }
    log.info('connected to the scheduler', { address, worker: workerId })
    this.#workerId = workerId
    this.#workerKey = workerKey
    this.#isWelcome = true
    this.#trouble = undefined
    this.#backoff.reset()
    clearTimeout(this.#timer)
    const intervalMs = Math.max(MIN_KEEP_ALIVE_MS, Math.min(wantedMs || Number.POSITIVE_INFINITY, timeoutMs / 2))
    this.#timer = guardedInterval(() => this.send({ keepAlive: {} }), intervalMs).unref()
    onWelcome()
  }

  #lost(
    error: StatusError,
    kind: Trouble = REFUSALS.has(error.code) ? 'the scheduler refuses this worker' : LOST,
  ): void {
    const { clock } = this.#options
    clearTimeout(this.#timer)
    if (this.#isWelcome) this.#lostMs = clock.now()
    this.#isWelcome = false
    this.#options.onLost?.()
    if (this.#isClosed) return
    const delayMs = this.#backoff.next()
    this.#logTrouble(kind, error, delayMs)
    this.#timer = guardedTimeout(() => void this.#connect(), delayMs)
  }

  /** Logs connection losses as warnings. Problems that an operator must solve are errors, logged once. */
  #logTrouble(kind: Trouble, error: StatusError, retryMs: number): void {
    const { log, address } = this.#options
    const remedy = kind === 'the scheduler refuses this worker' ? ` (${REFUSALS.get(error.code)})` : ''
    const text = `${codeName(error.code)}: ${error.message}${remedy}`
    const isNew = this.#trouble?.kind !== kind || this.#trouble.text !== text
    this.#trouble = { kind, text }
    if (kind === LOST) log.warn(kind, { address, error: text, retryMs })
    else if (isNew) log.error(kind, { address, reason: text, retryMaxMs: MAX_BACKOFF_MS })
  }
}

const clientOf = (address: string, tls: TlsFiles | null): Client => {
  const { target, options } = grpcWay(address)
  const all = { ...CHANNEL_OPTIONS, ...options }
  if (tls === null) return new Client(target, credentials.createInsecure(), all)
  return new Client(target, credentials.createSsl(tls.ca, tls.key, tls.cert), {
    ...all,
    ...(tls.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
  })
}

const toCode = (code: number): ConstructorParameters<typeof StatusError>[0] =>
  codeName(code) as ConstructorParameters<typeof StatusError>[0]
