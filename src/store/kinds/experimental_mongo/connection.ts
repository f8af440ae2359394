import type { MongoClient, MongoClientOptions } from 'mongodb'
import { StatusError } from '../../../base/status-error.js'
import { optionalPackage } from '../../remote/optional-package.js'

export interface MongoOptions {
  readonly connectionString: string
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
  readonly writeConcern: MongoClientOptions['writeConcern']
}

/** Interval of the driver's server checks. */
const HEARTBEAT_MS = 2000

/**
 * The connections to MongoDB. The driver opens them at the first request and again after every loss. The driver would
 * let requests wait for a server; here they fail at once with the reason while there is none.
 */
export class MongoConnection {
  readonly client: MongoClient
  /** The address, without secrets. */
  readonly name: string
  #lost: Error | undefined
  /** Whether the first connection succeeded. Before that, the driver does not reconnect by itself. */
  #isConnected = false
  #connecting: Promise<void> | undefined
  #looking: Promise<unknown> | undefined
  #failedMs = Number.NEGATIVE_INFINITY

  static async open(options: MongoOptions): Promise<MongoConnection> {
    const driver = await optionalPackage('mongodb', () => import('mongodb'))
    const { connectTimeoutMs, commandTimeoutMs, writeConcern } = options
    try {
      return new MongoConnection(
        new driver.MongoClient(options.connectionString, {
          connectTimeoutMS: connectTimeoutMs,
          serverSelectionTimeoutMS: connectTimeoutMs,
          // A server that is silent for this long counts as lost, even if its connection still exists.
          socketTimeoutMS: commandTimeoutMs,
          heartbeatFrequencyMS: HEARTBEAT_MS,
          // The store retries requests.
          retryReads: false,
          retryWrites: false,
          ...(writeConcern === undefined ? {} : { writeConcern }),
        }),
      )
    } catch (error) {
      const message = 'the MongoDB driver cannot parse connection_string, expected mongodb://host[:port]'
      throw new StatusError('INVALID_ARGUMENT', message, { cause: error })
    }
  }

  private constructor(client: MongoClient) {
    this.client = client
    const { hosts, srvHost } = client.options
    this.name = srvHost ?? hosts.join(',')
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#lost = newDescription.hasKnownServers ? undefined : (newDescription.error ?? undefined)
    })
  }

  /** Rejects at once while there is no server. */
  async use<T>(work: (client: MongoClient) => Promise<T>): Promise<T> {
    if (!this.#isConnected) await this.#connect()
    if (this.#lost !== undefined) {
      this.#look()
      throw this.#lost
    }
    return work(this.client)
  }

  /** Callers share one attempt. After a failure there is none for HEARTBEAT_MS. */
  #connect(): Promise<void> {
    const isTooSoon = performance.now() - this.#failedMs < HEARTBEAT_MS
    if (this.#lost !== undefined && isTooSoon) return Promise.reject(this.#lost)
    this.#connecting ??= this.client
      .connect()
      .then(
        () => {
          this.#isConnected = true
          this.#lost = undefined
        },
        (error: Error) => {
          this.#failedMs = performance.now()
          this.#lost = error
          throw error
        },
      )
      .finally(() => {
        this.#connecting = undefined
      })
    return this.#connecting
  }

  /**
   * Sends a ping, because while a request waits the driver looks for servers twice a second, else only at heartbeats.
   */
  #look(): void {
    this.#looking ??= this.client
      .db()
      .command({ ping: 1 })
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined
      })
  }

  close(): Promise<void> {
    return this.client.close()
  }
}
