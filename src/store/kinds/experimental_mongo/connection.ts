import type { MongoClient, MongoClientOptions } from 'mongodb'
import { StatusError } from '../../../base/status-error.js'
import { optionalPackage } from '../../remote/optional-package.js'

export interface MongoOptions {
  readonly connectionString: string
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
  readonly writeConcern: MongoClientOptions['writeConcern']
}

/** How often servers are asked whether they are there. */
const HEARTBEAT_MS = 2000

/**
 * The connections to a MongoDB. They are made when they are first needed and again after every loss, by the driver, which
 * would let each request wait for a server: while there is none, requests fail at once with why that is.
 */
export class MongoConnection {
  readonly client: MongoClient
  /** Where it leads, without secrets. */
  readonly name: string
  #lost: Error | undefined
  /** The driver gives up for good when it finds nobody at first, and looks again by itself only afterwards. */
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
          // A server that is silent for so long is lost, though its connection may still stand.
          socketTimeoutMS: commandTimeoutMs,
          heartbeatFrequencyMS: HEARTBEAT_MS,
          // Requests are tried again by the store.
          retryReads: false,
          retryWrites: false,
          ...(writeConcern === undefined ? {} : { writeConcern }),
        }),
      )
    } catch (error) {
      const message = 'connection_string is nothing the driver of MongoDB understands, expected mongodb://host[:port]'
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

  /** One attempt for all who ask, and not one after the other. */
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

  /** The driver looks for a server twice a second while somebody waits for one, and else only with its next heartbeat. */
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
