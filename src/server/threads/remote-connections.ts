import { X509Certificate } from 'node:crypto'
import type { Client } from '../client.js'
import type { Held } from '../held.js'
import type { Channel } from '../http2/output.js'
import type { RequestStream } from '../http2/request-stream.js'
import type { Http1Receiver } from '../transport/incoming.js'
import { bufferOf, type ThreadChannel } from './channel.js'
import type { CarriedToThread, ConnectionsToOwner } from './events.js'
import { RemoteStream, type Waiting } from './remote-stream.js'

/** What a transport does with a connection whose socket a service thread has. */
export interface RemoteEnd {
  readonly held: Held
  request(stream: RequestStream, client: Client): void
  http1(channel: Channel, client: Client): Http1Receiver
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
    http1: (number, certificate) => this.#connections.get(number)?.beginHttp1(certificate),
    http1Data: (number, bytes) => this.#connections.get(number)?.received(bufferOf(bytes)),
    http1Written: (number) => this.#connections.get(number)?.channel?.written(),
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
  http1: Http1Receiver | undefined
  channel: RemoteChannel | undefined
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

  beginHttp1(certificate: Uint8Array | undefined): void {
    this.channel = new RemoteChannel(this.#number, this.#thread)
    this.http1 = this.end?.http1(this.channel, this.clientWith(certificate))
  }

  received(bytes: Buffer): void {
    const { length } = bytes
    this.http1?.received(bytes)
    this.#thread.send('http1Taken', this.#number, length)
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
    this.channel?.closed()
    this.http1?.ended()
    this.end?.closed()
  }
}

type Written = (error?: Error | null) => void

/** The bytes of a connection whose socket a service thread has. */
class RemoteChannel implements Channel {
  readonly #number: number
  readonly #thread: Thread
  readonly #writes: Written[] = []
  #isClosed = false

  constructor(number: number, thread: Thread) {
    this.#number = number
    this.#thread = thread
  }

  write(parts: readonly Buffer[], written: Written): void {
    if (this.#isClosed) {
      written(new Error('the connection is closed'))
      return
    }
    this.#writes.push(written)
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    this.#thread.send('http1Write', this.#number, this.#thread.copyOf(bytes))
  }

  pause(): void {
    this.#thread.send('http1Pause', this.#number, true)
  }

  resume(): void {
    this.#thread.send('http1Pause', this.#number, false)
  }

  end(): void {
    this.#thread.send('http1End', this.#number)
  }

  destroy(): void {
    this.#thread.send('destroy', this.#number)
  }

  written(): void {
    this.#writes.shift()?.()
  }

  closed(): void {
    this.#isClosed = true
    for (const written of this.#writes.splice(0)) written(new Error('the connection is closed'))
  }
}
