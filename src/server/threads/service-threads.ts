import type { Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'
import type { RemexecTransport } from '../transport/transport.js'
import { ThreadChannel } from './channel.js'
import { descriptorTaker, type TakeDescriptor } from './descriptor.js'
import type { CarriedToThread, ConnectionsToOwner } from './events.js'
import { RemoteConnections } from './remote-connections.js'
import type { ListenersToThread, ThreadListenerOptions } from './thread-listener.js'

type ConnectionsToThread = ListenersToThread & CarriedToThread

/** `ToOwner` and `ToThread`: the part of the channels that is not about connections. */
export interface ServiceThreadsOptions<ToOwner, ToThread> {
  readonly count: number
  /** The program of a thread. */
  readonly program: URL
  /** What the program gets. */
  readonly data: unknown
  /** Called for each thread, in their order. Returns what is heard of it. */
  readonly hear: (thread: ThreadChannel<ToThread>) => ToOwner
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
  static async start<ToOwner, ToThread>(options: ServiceThreadsOptions<ToOwner, ToThread>): Promise<ServiceThreads> {
    const threads = new ServiceThreads(options.onStop)
    try {
      threads.#startAll(options)
      return threads
    } catch (error) {
      await threads.stop()
      throw error
    }
  }

  /**
   * Resolves once each thread has begun to serve, which `serve` resolves with, by its place. One that fails or ends until then fails
   * the start, and not the process.
   */
  async started(serve: (thread: number) => Promise<void>): Promise<void> {
    const begun = this.#threads.map((_, at) =>
      serve(at).catch((error: Error) => this.#lost(error.cause ?? error, at + 1)),
    )
    try {
      await Promise.race([Promise.all(begun), this.#failed])
    } finally {
      this.#failStart = undefined
    }
  }

  #startAll<ToOwner, ToThread>({ count, program, data, hear }: ServiceThreadsOptions<ToOwner, ToThread>): void {
    for (let number = 1; number <= count; number++) {
      try {
        const worker = new Worker(program, { workerData: data })
        const channel = new ThreadChannel<ConnectionsToThread & ToThread>(worker)
        const connections = new RemoteConnections(channel)
        channel.hear<ConnectionsToOwner & ToOwner>({ ...connections.heard, ...hear(channel) })
        this.#threads.push(new ServiceThread(worker, channel, connections))
        worker.on('error', (cause) => this.#lost(cause, number))
        worker.once('exit', (code) => {
          channel.end()
          this.#lost(new Error(`it ended with code ${code}`), number)
        })
      } catch (cause) {
        throw cannotStart(cause, number, count)
      }
    }
  }

  #lost(cause: unknown, number: number): void {
    if (this.#isStopping) return
    if (this.#failStart === undefined) throw new Error('a service thread ended, and the process with it', { cause })
    // What became too little for one thread may end others too.
    this.#isStopping = true
    this.#failStart(cannotStart(cause, number, this.#threads.length))
  }

  /** How many connections each thread has. */
  get connectionCounts(): readonly number[] {
    return this.#threads.map(({ connections }) => connections.count)
  }

  listener(options: ThreadListenerOptions): ThreadedListener {
    const number = ++this.#lastListener
    for (const { channel } of this.#threads) channel.send('listener', number, options)
    return {
      number,
      close: async (drainMs) => {
        await Promise.all(this.#threads.map((thread) => thread.close(number, drainMs)))
      },
      handOver: (socket, about, closed) => this.#handOver(number, socket, about, closed),
      renewTls: (tls) => {
        for (const { channel } of this.#threads) channel.send('renewTls', number, tls)
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
    const { channel } = thread
    channel.send('socket', listener, { number, fd, row: held.row, isUnix, head: channel.copyOf(head) })
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

class ServiceThread {
  readonly channel: ThreadChannel<ConnectionsToThread>
  readonly connections: RemoteConnections
  readonly #worker: Worker
  #lookedAt: ReturnType<Worker['performance']['eventLoopUtilization']>

  constructor(worker: Worker, channel: ThreadChannel<ConnectionsToThread>, connections: RemoteConnections) {
    this.#worker = worker
    this.channel = channel
    this.connections = connections
    this.#lookedAt = worker.performance.eventLoopUtilization()
  }

  /** The share of the time since the last look in which it worked. */
  get busyShare(): number {
    const now = this.#worker.performance.eventLoopUtilization()
    const { utilization } = this.#worker.performance.eventLoopUtilization(now, this.#lookedAt)
    this.#lookedAt = now
    return utilization
  }

  /** Resolves also if the thread ends before it answers. */
  async close(listener: number, drainMs: number): Promise<void> {
    try {
      await this.channel.ask('close', listener, drainMs)
    } catch (error) {
      if (!this.channel.hasEnded) throw error
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}
