import { setTimeout as sleep } from 'node:timers/promises'
import { guardedImmediate } from '../../../base/timers.js'
import type { Log } from '../../../log/log.js'
import { shareable } from '../../../rpc/call.js'
import { optionalPackage } from '../../remote/optional-package.js'
import type { RedisTarget } from './address.js'

type Client = typeof import('@redis/client')

export type RedisArgument = string | Buffer
export type RedisReply = Buffer | string | number | null | readonly RedisReply[]

export interface ConnectionsOptions {
  readonly target: RedisTarget
  /** Number of connections, in a cluster per node. Commands use them in turn, and many share one at a time. */
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
  readonly log: Log
}

/** A connection, or pool of connections, of the client for the mode. */
interface Link {
  connect(): Promise<unknown>
  send(key: string | undefined, args: RedisArgument[], signal: AbortSignal): Promise<unknown>
  destroy(): unknown
}

const MIN_WAIT_MS = 50
const MAX_WAIT_MS = 2_000

/**
 * The connections to Redis. The client library opens them in the background and again after every loss. While there is
 * none, commands fail at once with the reason instead of waiting in a queue. After `close` there are none.
 */
export class RedisConnections {
  readonly #links: readonly Link[]
  readonly #closing = new AbortController()
  readonly #connecting: Promise<unknown>
  /** Why the last connection was lost. */
  #lost: Error | undefined
  #next = 0
  /** Whether a connection was already chosen for this turn. */
  #isChosen = false

  static async open(options: ConnectionsOptions): Promise<RedisConnections> {
    return new RedisConnections(await optionalPackage('@redis/client', () => import('@redis/client')), options)
  }

  private constructor(redis: Client, options: ConnectionsOptions) {
    const heard = (error: Error): void => {
      this.#lost = error
      options.log.debug('a connection to Redis failed', { redis: options.target.name, reason: error.message })
    }
    // The sentinel client has its own pool.
    const count = options.target.mode === 'sentinel' ? 1 : options.poolSize
    this.#links = Array.from({ length: count }, () => DIALS[options.target.mode](redis, options, heard))
    this.#connecting = Promise.all(this.#links.map((link) => this.#connect(link, heard)))
  }

  /** Resolves once every connection was established for the first time, or after `patienceMs`. */
  async ready(patienceMs: number): Promise<void> {
    await Promise.race([this.#connecting, sleep(patienceMs, undefined, { ref: false })])
  }

  /**
   * Sends a command for `key`, or for no particular key, on the next connection. Commands of one turn of the event loop
   * use the same connection and are sent with one system call.
   */
  async send(key: string | undefined, args: RedisArgument[], signal: AbortSignal): Promise<RedisReply> {
    shareable(signal)
    if (!this.#isChosen) {
      this.#isChosen = true
      this.#next += 1
      guardedImmediate(() => {
        this.#isChosen = false
      })
    }
    let next = this.#next
    for (let left = this.#links.length; ; left--) {
      const link = this.#links[next++ % this.#links.length] as Link
      try {
        return (await link.send(key, args, signal)) as RedisReply
      } catch (error) {
        // Nothing was sent. Another connection may work.
        const isOffline = error instanceof Error && error.constructor.name === 'ClientOfflineError'
        if (!isOffline) throw error
        // The reason of the loss says more than "offline".
        if (left <= 1) throw this.#lost ?? error
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#links.map(async (link) => link.destroy()))
  }

  /** Connects, with retries: sentinel and cluster clients give up if they cannot find their servers at first. */
  async #connect(link: Link, heard: (error: Error) => void): Promise<void> {
    for (let waitMs = MIN_WAIT_MS; !this.#closing.signal.aborted; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        await link.connect()
        return
      } catch (error) {
        heard(error as Error)
        await sleep(waitMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
      }
    }
  }
}

type Dial = (redis: Client, options: ConnectionsOptions, heard: (error: Error) => void) => Link

/** Disables the client's timeout, which would create a signal for each command. The store has its own. */
const commandOptions = (redis: Client) => ({ typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer }, timeout: 0 })

/** Options for every connection. */
const nodeOptions = ({ target, connectTimeoutMs, commandTimeoutMs }: ConnectionsOptions) => ({
  ...(target.username === undefined ? {} : { username: target.username }),
  ...(target.password === undefined ? {} : { password: target.password }),
  disableOfflineQueue: true,
  // A server that is silent for this long counts as lost, even if its connection still exists.
  pingInterval: Math.max(1, Math.floor(commandTimeoutMs / 2)),
  socket: {
    connectTimeout: connectTimeoutMs,
    socketTimeout: commandTimeoutMs,
    reconnectStrategy: (retries: number) => Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** Math.min(retries, 10)),
    ...(target.usesTls ? { tls: true as const } : {}),
  },
})

const standard: Dial = (redis, options, heard) => {
  const { nodes, database } = options.target
  const { socket, ...node } = nodeOptions(options)
  const [at] = nodes
  const client = redis.createClient({ ...node, database, socket: { ...socket, ...at } }).on('error', heard)
  const common = commandOptions(redis)
  return {
    connect: () => client.connect(),
    send: (_key, args, abortSignal) => client.sendCommand(args, { ...common, abortSignal }),
    destroy: () => client.destroy(),
  }
}

/** How long after the loss of a node the others are asked for the new owner of its slots. */
const REFRESH_MS = 1000

const cluster: Dial = (redis, options, heard) => {
  const defaults = nodeOptions(options)
  const { socket } = defaults
  const client = redis
    .createCluster({
      rootNodes: options.target.nodes.map((at) => ({ ...defaults, socket: { ...socket, ...at } })),
      defaults,
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    })
    .on('error', heard)
    .on('node-error', heard)
  const common = commandOptions(redis)
  return {
    connect: () => client.connect(),
    send: (key, args, abortSignal) => client.sendCommand(key, false, args, { ...common, abortSignal }),
    destroy: () => client.destroy(),
  }
}

/** How often a command asks the sentinels for the current primary, once a second. */
const MAX_REDISCOVERIES = 5

const sentinel: Dial = (redis, options, heard) => {
  const { target, poolSize } = options
  const node = nodeOptions(options)
  const { username, password, serviceName } = target.sentinel
  const { username: _username, password: _password, ...open } = node
  const client = redis
    .createSentinel({
      name: serviceName,
      sentinelRootNodes: [...target.nodes],
      nodeClientOptions: { ...node, database: target.database },
      sentinelClientOptions: {
        ...open,
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
      },
      masterPoolSize: poolSize,
      maxCommandRediscovers: MAX_REDISCOVERIES,
      scanInterval: REFRESH_MS,
      passthroughClientErrorEvents: true,
    })
    .on('error', heard)
  const common = commandOptions(redis)
  // Without a lease each command would occupy a connection until its answer.
  let leases: Awaited<ReturnType<typeof client.acquire>>[] = []
  let next = 0
  return {
    connect: async () => {
      await client.connect()
      leases = await Promise.all(Array.from({ length: poolSize }, () => client.acquire()))
    },
    send: async (_key, args, abortSignal) => {
      const lease = leases[next++ % leases.length]
      if (lease === undefined) throw new redis.ClientOfflineError()
      return lease.sendCommand(false, args, { ...common, abortSignal })
    },
    destroy: () => client.destroy(),
  }
}

const DIALS = { standard, cluster, sentinel } as const
