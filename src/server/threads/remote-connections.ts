import { X509Certificate } from 'node:crypto'
import type { Client } from '../client.js'
import type { Held } from '../held.js'
import type { RequestStream } from '../http2/request-stream.js'
import { bufferOf, type ThreadChannel } from './channel.js'
import type { CarriedToThread, ConnectionsToOwner } from './events.js'
import { RemoteStream, type Waiting } from './remote-stream.js'

/** What a transport does with a connection whose socket a service thread has. */
export interface RemoteEnd {
  readonly held: Held
  request(stream: RequestStream, client: Client): void
  closed(): void
}

type Thread = ThreadChannel<CarriedToThread>

/** The owner's side of the connections of one service thread. */
export class RemoteConnections {
  /** What it hears of the thread. */
  readonly heard: ConnectionsToOwner = {
    closed: (number) => {
      const connection = this.#connections.get(number)
      this.#connections.delete(number)
      connection?.closed()
    },
    request: (request, number, head, isRemoteEnded, certificate) => {
      const connection = this.#connections.get(number)
      if (connection?.end === undefined) return
      const forget = (): void => {
        this.#streams.delete(request)
        connection.streams.delete(stream)
      }
      const parts = { thread: this.#thread, waiting: connection, forget }
      const stream = new RemoteStream(request, { head, isRemoteEnded }, parts)
      this.#streams.set(request, stream)
      connection.streams.add(stream)
      connection.end.request(stream, connection.clientWith(certificate))
    },
    data: (request, bytes) => this.#streams.get(request)?.consumer?.data(bufferOf(bytes)),
    ended: (request) => this.#streams.get(request)?.ended(),
    gone: (request) => this.#streams.get(request)?.gone(),
    written: (request) => this.#streams.get(request)?.written(),
    taken: (request) => this.#streams.get(request)?.taken(),
    room: (request, sizeBytes) => this.#streams.get(request)?.room(sizeBytes),
  }
  readonly #thread: Thread
  readonly #connections = new Map<number, RemoteConnection>()
  readonly #streams = new Map<number, RemoteStream>()

  constructor(thread: Thread) {
    this.#thread = thread
  }

  get count(): number {
    return this.#connections.size
  }

  /** `accept` gets the connection, and says what to do with its requests. */
  open(number: number, peer: string, accept: (connection: RemoteConnection) => RemoteEnd): RemoteEnd {
    const connection = new RemoteConnection(number, peer, this.#thread)
    this.#connections.set(number, connection)
    connection.end = accept(connection)
    return connection.end
  }
}

/** A connection whose socket a service thread has. */
export class RemoteConnection implements Waiting {
  end: RemoteEnd | undefined
  readonly streams = new Set<RemoteStream>()
  readonly #number: number
  readonly #peer: string
  readonly #thread: Thread
  #client: Client | undefined

  constructor(number: number, peer: string, thread: Thread) {
    this.#number = number
    this.#peer = peer
    this.#thread = thread
  }

  clientWith(certificate: Uint8Array | undefined): Client {
    this.#client ??= {
      peer: this.#peer,
      clientCertificate: certificate && new X509Certificate(bufferOf(certificate)),
    }
    return this.#client
  }

  take(sizeBytes: number): boolean {
    return this.end?.held.answers.take(sizeBytes) ?? false
  }

  give(sizeBytes: number): void {
    this.end?.held.answers.give(sizeBytes)
  }

  sweep(nowMs: number): void {
    for (const stream of this.streams) stream.sweep(nowMs)
  }

  drain(): void {
    this.#thread.send('drain', this.#number)
  }

  destroy(): void {
    this.#thread.send('destroy', this.#number)
  }

  closed(): void {
    for (const stream of this.streams) stream.gone()
    this.end?.closed()
  }
}
