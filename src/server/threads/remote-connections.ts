import { X509Certificate } from 'node:crypto'
import type { Client } from '../client.js'
import type { Held } from '../held.js'
import type { Channel } from '../http2/output.js'
import type { RequestHead } from '../http2/request-head.js'
import type { RequestStream } from '../http2/request-stream.js'
import type { Http1Receiver } from '../transport/incoming.js'
import { type BatchedPort, bufferOf, type Carried } from './batched-port.js'
import { ToOwner, ToThread } from './events.js'
import { RemoteStream, type Waiting } from './remote-stream.js'

/** What a transport does with a connection whose socket a service thread has. */
export interface RemoteEnd {
  readonly held: Held
  request(stream: RequestStream, client: Client): void
  http1(channel: Channel, client: Client): Http1Receiver
  closed(): void
}

/** The owner's side of the connections of one service thread. */
export class RemoteConnections {
  readonly #port: BatchedPort
  readonly #connections = new Map<number, RemoteConnection>()
  readonly #streams = new Map<number, RemoteStream>()

  constructor(port: BatchedPort) {
    this.#port = port
  }

  get count(): number {
    return this.#connections.size
  }

  /** `accept` gets the connection, and says what to do with its requests. */
  open(number: number, peer: string, accept: (connection: RemoteConnection) => RemoteEnd): RemoteEnd {
    const connection = new RemoteConnection(number, peer, this.#port)
    this.#connections.set(number, connection)
    connection.end = accept(connection)
    return connection.end
  }

  receive([kind, id, first, second, third, fourth]: Carried): void {
    if (kind === ToOwner.REQUEST) this.#request(id, first as number, { head: second, isRemoteEnded: third }, fourth)
    else if (kind >= ToOwner.DATA && kind <= ToOwner.ROOM) this.#streams.get(id)?.receive(kind, first)
    else {
      const connection = this.#connections.get(id)
      if (kind === ToOwner.HTTP1) connection?.beginHttp1(first)
      else if (kind === ToOwner.HTTP1_DATA) connection?.received(bufferOf(first))
      else if (kind === ToOwner.HTTP1_WRITTEN) connection?.channel?.written()
      else {
        this.#connections.delete(id)
        connection?.closed()
      }
    }
  }

  #request(
    id: number,
    number: number,
    { head, isRemoteEnded }: { readonly head: unknown; readonly isRemoteEnded: unknown },
    certificate: unknown,
  ): void {
    const connection = this.#connections.get(number)
    if (connection?.end === undefined) return
    const about = { head: head as RequestHead, isRemoteEnded: isRemoteEnded === true }
    const forget = (): void => {
      this.#streams.delete(id)
      connection.streams.delete(stream)
    }
    const stream = new RemoteStream(id, about, { port: this.#port, waiting: connection, forget })
    this.#streams.set(id, stream)
    connection.streams.add(stream)
    connection.end.request(stream, connection.clientWith(certificate))
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
  readonly #port: BatchedPort
  #client: Client | undefined

  constructor(number: number, peer: string, port: BatchedPort) {
    this.#number = number
    this.#peer = peer
    this.#port = port
  }

  clientWith(certificate: unknown): Client {
    this.#client ??= {
      peer: this.#peer,
      clientCertificate: certificate === undefined ? undefined : new X509Certificate(bufferOf(certificate)),
    }
    return this.#client
  }

  beginHttp1(certificate: unknown): void {
    this.channel = new RemoteChannel(this.#number, this.#port)
    this.http1 = this.end?.http1(this.channel, this.clientWith(certificate))
  }

  received(bytes: Buffer): void {
    const { length } = bytes
    this.http1?.received(bytes)
    this.#port.send([ToThread.HTTP1_TAKEN, this.#number, length])
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
    this.#port.send([ToThread.DRAIN, this.#number])
  }

  destroy(): void {
    this.#port.send([ToThread.DESTROY, this.#number])
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
  readonly #port: BatchedPort
  readonly #writes: Written[] = []
  #isClosed = false

  constructor(number: number, port: BatchedPort) {
    this.#number = number
    this.#port = port
  }

  write(parts: readonly Buffer[], written: Written): void {
    if (this.#isClosed) {
      written(new Error('the connection is closed'))
      return
    }
    this.#writes.push(written)
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    this.#port.send([ToThread.HTTP1_WRITE, this.#number, this.#port.copyOf(bytes)])
  }

  pause(): void {
    this.#port.send([ToThread.HTTP1_PAUSE, this.#number])
  }

  resume(): void {
    this.#port.send([ToThread.HTTP1_RESUME, this.#number])
  }

  end(): void {
    this.#port.send([ToThread.HTTP1_END, this.#number])
  }

  destroy(): void {
    this.#port.send([ToThread.DESTROY, this.#number])
  }

  written(): void {
    this.#writes.shift()?.()
  }

  closed(): void {
    this.#isClosed = true
    for (const written of this.#writes.splice(0)) written(new Error('the connection is closed'))
  }
}
