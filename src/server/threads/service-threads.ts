import type { Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { type MessagePort, Worker } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'
import type { RemexecTransport } from '../transport/transport.js'
import { BatchedPort, type Carried } from './batched-port.js'
import { descriptorTaker, type TakeDescriptor } from './descriptor.js'
import { ToThread } from './events.js'
import { RemoteConnections } from './remote-connections.js'
import type { ThreadListenerOptions } from './thread-listener.js'

/** Tells a service thread about a listener, before it gets connections of it. */
export interface ListenerMessage {
  readonly kind: 'listener'
  readonly number: number
  readonly options: ThreadListenerOptions
}

/** Other TLS files of a listener. */
export interface TlsMessage {
  readonly kind: 'tls'
  readonly number: number
  readonly tls: TlsOptions
}

/** A listener closes. Answered by `ClosedMessage`. */
export interface CloseMessage {
  readonly kind: 'close'
  readonly number: number
  readonly drainMs: number
}

/** The calls that a thread served for a listener have ended. */
export interface ClosedMessage {
  readonly kind: 'closed'
  readonly number: number
}

export type ThreadMessage = ListenerMessage | TlsMessage | CloseMessage

export interface ServiceThreadsOptions {
  readonly count: number
  /** The program of a thread. */
  readonly program: URL
  /** What the program gets. */
  readonly data: unknown
  /** Messages of the program other than about connections. */
  readonly onMessage: (message: unknown, thread: PostsTo) => void
  readonly onStop?: () => void
}

/**
 * The service threads of the process. Each has connections, and carries to this thread, the owner, what only the owner can
 * answer. If a thread ends, so does the process: nobody else knows what its clients were told.
 */
export class ServiceThreads {
  readonly #threads: ServiceThread[] = []
  readonly #takeDescriptor: TakeDescriptor
  readonly #onStop: (() => void) | undefined
  #lastListener = 0
  #lastConnection = 0
  #isStopping = false
  /** Fails the start, until it is over. */
  #failStart: ((error: Error) => void) | undefined
  readonly #failed = new Promise<never>((_, reject) => {
    this.#failStart = reject
  })

  private constructor(onStop: (() => void) | undefined) {
    this.#takeDescriptor = descriptorTaker()
    this.#onStop = onStop
    // `started` tells it, which may be called later.
    this.#failed.catch(() => {})
  }

  /**
   * Begins to start the threads. They load their code while the caller opens stores, and keep what they are told until then.
   * If one cannot start, the others are stopped, because they would keep the process alive.
   */
  static async start(options: ServiceThreadsOptions): Promise<ServiceThreads> {
    const threads = new ServiceThreads(options.onStop)
    try {
      threads.#startAll(options)
      return threads
    } catch (error) {
      await threads.stop()
      throw error
    }
  }

  /** Resolves once all threads run and `work` is done. A thread that ended until then fails the start, and not the process. */
  async started(work: Promise<void>): Promise<void> {
    try {
      await Promise.race([Promise.all([work, ...this.#threads.map(({ ready }) => ready)]), this.#failed])
    } finally {
      this.#failStart = undefined
    }
  }

  #startAll(options: ServiceThreadsOptions): void {
    const { count } = options
    for (let number = 1; number <= count; number++) {
      try {
        this.#threads.push(new ServiceThread(options, (cause) => this.#lost(cause, number, count)))
      } catch (cause) {
        throw cannotStart(cause, number, count)
      }
    }
  }

  #lost(cause: unknown, number: number, count: number): void {
    if (this.#isStopping) return
    if (this.#failStart === undefined) throw new Error('a service thread ended, and the process with it', { cause })
    // What became too little for one thread may end others too.
    this.#isStopping = true
    this.#failStart(cannotStart(cause, number, count))
  }

  /** How many connections each thread has. */
  get connectionCounts(): readonly number[] {
    return this.#threads.map(({ connections }) => connections.count)
  }

  /** Sends a message of its own to each thread. */
  tell(messageFor: (thread: number) => { readonly message: unknown; readonly ports: readonly MessagePort[] }): void {
    for (const [number, thread] of this.#threads.entries()) {
      const { message, ports } = messageFor(number)
      thread.post(message, ports)
    }
  }

  listener(options: ThreadListenerOptions): ThreadedListener {
    const number = ++this.#lastListener
    for (const thread of this.#threads) thread.post({ kind: 'listener', number, options })
    return {
      number,
      close: async (drainMs) => {
        await Promise.all(this.#threads.map((thread) => thread.closed(number, drainMs)))
      },
      handOver: (socket, about, closed) => this.#handOver(number, socket, about, closed),
      renewTls: (tls) => {
        for (const thread of this.#threads) thread.post({ kind: 'tls', number, tls })
      },
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#onStop?.()
    await Promise.all(this.#threads.map((thread) => thread.stop()))
  }

  #handOver(
    listener: number,
    socket: Socket,
    { transport, peer, address, isUnix, head }: HandOver,
    closed: () => void,
  ): void {
    const fd = this.#takeDescriptor(socket)
    if (fd === undefined) {
      closed()
      return
    }
    const number = ++this.#lastConnection
    const thread = this.#leastBusy()
    const { held } = thread.connections.open(number, peer, (remote) => {
      const end = transport.acceptRemote(remote, address)
      return {
        ...end,
        closed: () => {
          end.closed()
          closed()
        },
      }
    })
    thread.port.send([ToThread.SOCKET, number, listener, fd, held.row, isUnix, thread.port.copyOf(head)])
  }

  /** Fewest connections first, because a connection stays where it is. Of several, the one that has worked the least lately. */
  #leastBusy(): ServiceThread {
    const [first, ...others] = this.#threads
    if (first === undefined) throw new Error('there is no service thread')
    let best = first
    for (const thread of others) {
      const more = thread.connections.count - best.connections.count
      if (more < 0 || (more === 0 && thread.busyShare < best.busyShare)) best = thread
    }
    return best
  }
}

/** RESOURCE_EXHAUSTED if the machine cannot have so many threads. */
const cannotStart = (cause: unknown, number: number, count: number): Error => {
  const what = `service thread ${number} of ${count} cannot start`
  const { code, message = '' }: { code?: unknown; message?: string } = cause instanceof Error ? cause : {}
  const isThread = code === 'ERR_WORKER_INIT_FAILED'
  if (!isThread && code !== 'ERR_WORKER_OUT_OF_MEMORY' && !/out of memory|allocation failed/i.test(message))
    return new Error(what, { cause })
  const limits = isThread ? 'threads (ulimit -u, TasksMax of systemd, pids of a container)' : 'memory'
  const refused = `the system gives no more ${isThread ? 'threads' : 'memory'} (${message})`
  const advice = `lower global.threads, or raise the limit on ${limits}`
  return new StatusError('RESOURCE_EXHAUSTED', `${what}: ${refused}; ${advice}`, { cause })
}

interface HandOver {
  readonly transport: RemexecTransport
  /** `host:port`, or `unix`. */
  readonly peer: string
  /** Of the client, without a port. */
  readonly address: string
  readonly isUnix: boolean
  /** What was read from it. */
  readonly head: Buffer
}

/** A listener whose connections service threads have. */
export interface ThreadedListener {
  readonly number: number
  /** Resolves once the calls that the threads serve themselves have ended; after `drainMs` they end with UNAVAILABLE. */
  close(drainMs: number): Promise<void>
  /** Gives a socket to a service thread. Calls `closed` when its connection has closed. */
  handOver(socket: Socket, about: HandOver, closed: () => void): void
  renewTls(tls: TlsOptions): void
}

/** A thread that can be answered. */
export interface PostsTo {
  post(message: unknown): void
}

const isClosed = (message: unknown): message is ClosedMessage =>
  typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'closed'

class ServiceThread implements PostsTo {
  readonly port: BatchedPort
  readonly connections: RemoteConnections
  /** Resolves once the thread runs. Pending if it ends before. */
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #closing = new Map<number, () => void>()
  #hasEnded = false
  #lookedAt: ReturnType<Worker['performance']['eventLoopUtilization']>

  constructor({ program, data, onMessage }: ServiceThreadsOptions, lost: (cause: unknown) => void) {
    const worker = new Worker(program, { workerData: data })
    this.#worker = worker
    this.port = new BatchedPort(worker)
    this.connections = new RemoteConnections(this.port)
    this.#lookedAt = worker.performance.eventLoopUtilization()
    this.ready = new Promise((resolve) => {
      worker.on('message', (message: unknown) => {
        if (Array.isArray(message)) for (const event of message) this.connections.receive(event as Carried)
        else if (message === READY) resolve()
        else if (isClosed(message)) this.#closing.get(message.number)?.()
        else onMessage(message, this)
      })
      worker.on('error', lost)
      worker.once('exit', (code) => {
        this.#hasEnded = true
        for (const closed of this.#closing.values()) closed()
        lost(new Error(`it ended with code ${code}`))
      })
    })
  }

  /** The share of the time since the last look in which it worked. */
  get busyShare(): number {
    const now = this.#worker.performance.eventLoopUtilization()
    const { utilization } = this.#worker.performance.eventLoopUtilization(now, this.#lookedAt)
    this.#lookedAt = now
    return utilization
  }

  post(message: unknown, ports: readonly MessagePort[] = []): void {
    this.#worker.postMessage(message, ports)
  }

  /** Resolves also if the thread ends before it answers. */
  async closed(number: number, drainMs: number): Promise<void> {
    if (this.#hasEnded) return
    return new Promise((resolve) => {
      this.#closing.set(number, resolve)
      const message: ThreadMessage = { kind: 'close', number, drainMs }
      this.post(message)
    })
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** The first message of a thread. */
export const READY = 'ready'
