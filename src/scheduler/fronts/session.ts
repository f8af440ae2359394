import type { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import type {
  FrontHelloInput,
  FrontMessageInput,
  FrontWelcome,
  SchedulingMessage,
} from '../../proto/generated/remexec.scheduler.v1.js'
import { Backoff } from '../../work/backoff.js'
import { inBackground } from '../../work/in-background.js'
import { Room } from '../../work/room.js'

/** The messages of the scheduler, and those for it. */
export interface SchedulingStream extends Readable {
  readonly writableNeedDrain?: boolean
  write(message: FrontMessageInput): boolean
}

export interface SessionOptions {
  /** The server's name in messages. */
  readonly backend: string
  /** Opens the stream. Rejects, or the stream fails, if the server cannot be reached. */
  readonly open: (signal: AbortSignal) => Promise<SchedulingStream>
  readonly failureOf: (thrown: unknown) => StatusError
  readonly clock: Clock
  readonly log: Log
  /** The scheduler is there, perhaps another process than before: hand in what is unfinished. */
  readonly onJoined: () => void
  /** From now on it cannot be reached, or does not speak this protocol. */
  readonly onApart: (why: Apart) => void
  readonly onMessage: (message: SchedulingMessage) => void
  /** Only where several servers have one queue. */
  readonly amongPeers?: AmongPeers | undefined
  /** 0 to 1; spreads the reconnections of many servers. */
  readonly random?: () => number
}

export interface AmongPeers {
  hello(): Pick<FrontHelloInput, 'scheduler' | 'serverId' | 'highestEpoch' | 'termKey'>
  /** Throws if that server does not lead any more. */
  accept(welcome: FrontWelcome): void
}

export interface Apart {
  /** `foreign`: another program, an older release, or one that does not let this server forward. */
  readonly kind: 'away' | 'foreign'
  readonly error: StatusError
}

const PROTOCOL_VERSION = 1
const FIRST_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 1_000
/** A server that does not speak the protocol may be replaced by one that does. */
const FOREIGN_MS = 60_000
/** How long a connection attempt may take. */
const WELCOME_MS = 10_000
const SILENT_INTERVALS = 3

/** The stream to the server with the scheduler, opened again after every loss. */
export class SchedulerSession {
  readonly #options: SessionOptions
  #stream: SchedulingStream | undefined
  #room: Room | undefined
  /** The newest one to connect. */
  #attempt: AbortController | undefined
  #isJoined = false
  #heardMs = 0
  readonly #backoff: Backoff
  #timer: NodeJS.Timeout | undefined
  #stopWatching: (() => void) | undefined
  #isClosed = false
  /** Of the last trouble that was logged. */
  #trouble = ''

  constructor(options: SessionOptions) {
    this.#options = options
    const { random = Math.random } = options
    this.#backoff = new Backoff({ firstMs: FIRST_BACKOFF_MS, maxMs: MAX_BACKOFF_MS, random })
  }

  start(): void {
    const attempt = new AbortController()
    this.#connect(attempt).catch((error: unknown) => {
      if (this.#attempt === attempt) this.#lost(error)
    })
  }

  /** Joins anew at once, because another server leads. */
  again(): void {
    clearTimeout(this.#timer)
    this.#leave()
    if (this.#isClosed) return
    this.#backoff.reset()
    this.start()
  }

  /** Dropped without a connection: after the next one, everything unfinished is handed in again. Resolves with room for more. */
  async send(message: FrontMessageInput): Promise<void> {
    const stream = this.#stream
    if (!this.#isJoined || stream === undefined || stream.destroyed) return
    if (!stream.write(message)) await this.#room?.free()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#leave()
  }

  async #connect(attempt: AbortController): Promise<void> {
    const { open, clock, amongPeers } = this.#options
    this.#attempt = attempt
    this.#timer = guardedTimeout(() => {
      attempt.abort()
      this.#stream?.destroy(new Error(`no welcome within ${WELCOME_MS / 1000} s`))
    }, WELCOME_MS)
    const stream = await open(attempt.signal)
    if (this.#isClosed || this.#attempt !== attempt) {
      stream.destroy()
      return
    }
    this.#stream = stream
    this.#room = new Room(stream)
    stream.on('error', (error) => this.#end(stream, error))
    stream.on('close', () => this.#end(stream, undefined))
    stream.on('end', () => this.#end(stream, undefined))
    stream.on('data', (message: SchedulingMessage) => {
      this.#heardMs = clock.now()
      if (this.#stream !== stream) return
      if (message.welcome !== null) this.#welcome(stream, message.welcome)
      else if (message.stillThere?.asks === true) this.#tellTerm()
      else this.#options.onMessage(message)
    })
    stream.write({ hello: { protocolVersion: PROTOCOL_VERSION, saysKept: true, ...amongPeers?.hello() } })
  }

  #welcome(stream: SchedulingStream, welcome: FrontWelcome): void {
    try {
      this.#options.amongPeers?.accept(welcome)
      this.#joined(welcome.stillThereIntervalMs)
    } catch (error) {
      stream.destroy(StatusError.from(error))
    }
  }

  #tellTerm(): void {
    const { highestEpoch, termKey } = this.#options.amongPeers?.hello() ?? {}
    inBackground(this.send({ termSeen: { highestEpoch, termKey } }), this.#options.log, 'an answer to the leader')
  }

  #joined(intervalMs: number): void {
    const { clock, log, backend, onJoined } = this.#options
    clearTimeout(this.#timer)
    this.#isJoined = true
    this.#backoff.reset()
    this.#trouble = ''
    const limitMs = SILENT_INTERVALS * Math.max(intervalMs, 100)
    this.#stopWatching = clock.every(Math.max(intervalMs, 100), () => {
      if (clock.now() - this.#heardMs > limitMs) this.#stream?.destroy(new Error(`silent for ${limitMs / 1000} s`))
    })
    log.info('joined the scheduler', { address: backend })
    onJoined()
  }

  #end(stream: SchedulingStream, error: Error | undefined): void {
    if (this.#stream === stream) this.#lost(error ?? new Error('the stream ended'))
  }

  #lost(thrown: unknown): void {
    const { failureOf, onApart, log, backend } = this.#options
    clearTimeout(this.#timer)
    this.#leave()
    if (this.#isClosed) return
    const error = failureOf(thrown)
    const isForeign = this.#options.amongPeers === undefined && !PASSING.some((code) => isStatus(error, code))
    const retryMs = isForeign ? this.#backoff.spread(FOREIGN_MS) : this.#backoff.next()
    const text = `${error.code} ${error.message}`
    const what = isForeign ? FOREIGN_TEXT : 'no connection to the scheduler'
    if (text !== this.#trouble) log.warn(what, { address: backend, reason: error.message })
    this.#trouble = text
    this.#timer = guardedTimeout(() => this.start(), retryMs).unref()
    onApart({ kind: isForeign ? 'foreign' : 'away', error })
  }

  #leave(): void {
    const stream = this.#stream
    this.#stream = undefined
    this.#isJoined = false
    this.#stopWatching?.()
    this.#stopWatching = undefined
    stream?.destroy()
  }
}

/** What a restart, or a connection that is lost, looks like. All else is an answer. */
const PASSING = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED', 'ABORTED', 'INTERNAL', 'UNKNOWN'] as const
const FOREIGN_TEXT =
  'the scheduler takes actions by Execute only, so clients of this server lose theirs when it restarts: it is another program, an older release, or does not grant this server the permission `forward`'
