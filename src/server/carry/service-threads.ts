import type { Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { RemexecTransport } from '../remexec/transport.js'
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
  readonly #threads: readonly ServiceThread[]
  readonly #takeDescriptor: TakeDescriptor
  readonly #onStop: (() => void) | undefined
  #lastListener = 0
  #lastConnection = 0
  #isStopping = false

  private constructor(options: ServiceThreadsOptions) {
    this.#takeDescriptor = descriptorTaker()
    this.#onStop = options.onStop
    const lost = (cause: unknown): void => {
      if (!this.#isStopping) throw new Error('a service thread ended, and the process with it', { cause })
    }
    this.#threads = Array.from({ length: options.count }, () => new ServiceThread(options, lost))
  }

  /** Resolves once all threads run. */
  static async start(options: ServiceThreadsOptions): Promise<ServiceThreads> {
    const threads = new ServiceThreads(options)
    await Promise.all(threads.#threads.map((thread) => thread.ready))
    return threads
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
    { transport, peer, address, isUnix }: HandOver,
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
    thread.port.send([ToThread.SOCKET, number, listener, fd, held.row, isUnix])
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

interface HandOver {
  readonly transport: RemexecTransport
  /** `host:port`, or `unix`. */
  readonly peer: string
  /** Of the client, without a port. */
  readonly address: string
  readonly isUnix: boolean
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
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #closing = new Map<number, () => void>()
  #lookedAt: ReturnType<Worker['performance']['eventLoopUtilization']>

  constructor({ program, data, onMessage }: ServiceThreadsOptions, lost: (cause: unknown) => void) {
    const worker = new Worker(program, { workerData: data })
    this.#worker = worker
    this.port = new BatchedPort(worker)
    this.connections = new RemoteConnections(this.port)
    this.#lookedAt = worker.performance.eventLoopUtilization()
    this.ready = new Promise((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        if (Array.isArray(message)) for (const event of message) this.connections.receive(event as Carried)
        else if (message === READY) resolve()
        else if (isClosed(message)) this.#closing.get(message.number)?.()
        else onMessage(message, this)
      })
      worker.once('error', (error) => {
        reject(error)
        lost(error)
      })
      worker.once('exit', (code) => lost(new Error(`it ended with code ${code}`)))
    })
    this.ready.catch(() => {})
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

  closed(number: number, drainMs: number): Promise<void> {
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
