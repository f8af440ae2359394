import type { Client } from '../client.js'
import type { Channel } from '../http2/output.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import type { Http1Receiver } from '../transport/incoming.js'
import { type BatchedPort, bufferOf, type Carried } from './batched-port.js'
import { ToOwner, ToThread } from './events.js'

/** What the owner may do to a connection of this thread. */
export interface Drained {
  drain(): void
  destroy(): void
}

/**
 * The service thread's side: carries requests, and connections that speak HTTP/1, to the owner of the process. What a client
 * may send before somebody reads is bounded by its windows, and HTTP/1 by pauses, as on one thread.
 */
export class Carrier {
  readonly #port: BatchedPort
  readonly #connections = new Map<number, Drained>()
  readonly #requests = new Map<number, CarriedRequest>()
  readonly #channels = new Map<number, CarriedChannel>()
  #lastId = 0

  constructor(port: BatchedPort) {
    this.#port = port
  }

  opened(connection: number, drained: Drained): void {
    this.#connections.set(connection, drained)
  }

  closed(connection: number): void {
    this.#connections.delete(connection)
    this.#channels.delete(connection)
    this.#port.send([ToOwner.CLOSED, connection])
  }

  /** The owner serves this request. */
  carry(stream: RequestStream, connection: number, client: Client): void {
    const id = ++this.#lastId
    const request = new CarriedRequest(id, stream, this.#port, () => this.#requests.delete(id))
    this.#requests.set(id, request)
    stream.consumer = request
    const { head, isRemoteEnded } = stream
    this.#port.send([ToOwner.REQUEST, id, connection, head, isRemoteEnded, certificateOf(client)])
  }

  /** The owner serves this connection. */
  carryHttp1(channel: Channel, connection: number, client: Client): Http1Receiver {
    const carried = new CarriedChannel(channel, connection, this.#port)
    this.#channels.set(connection, carried)
    this.#port.send([ToOwner.HTTP1, connection, certificateOf(client)])
    return carried
  }

  /** False if the event is none about connections and requests. */
  receive([kind, id, first, second]: Carried): boolean {
    if (kind === ToThread.DRAIN) this.#connections.get(id)?.drain()
    else if (kind === ToThread.DESTROY) this.#connections.get(id)?.destroy()
    else if (kind >= ToThread.HTTP1_WRITE) this.#channels.get(id)?.receive(kind, first)
    else if (kind >= ToThread.RESPOND) this.#requests.get(id)?.receive(kind, first, second)
    else return false
    return true
  }
}

const certificateOf = ({ clientCertificate }: Client): Uint8Array | undefined =>
  clientCertificate && new Uint8Array(clientCertificate.raw)

/** A request that the owner serves. Its stream is here. */
class CarriedRequest implements Consumer {
  readonly #id: number
  readonly #stream: RequestStream
  readonly #port: BatchedPort
  readonly #forget: () => void
  #isHandled = false

  constructor(id: number, stream: RequestStream, port: BatchedPort, forget: () => void) {
    this.#id = id
    this.#stream = stream
    this.#port = port
    this.#forget = forget
  }

  data(bytes: Buffer): void {
    // Nobody reads what a client sends behind its answer.
    if (this.#isHandled) this.#stream.consumed(bytes.length)
    else this.#port.send([ToOwner.DATA, this.#id, this.#port.copyOf(bytes)])
  }

  ended(): void {
    if (!this.#isHandled) this.#port.send([ToOwner.ENDED, this.#id])
  }

  /** The owner looks at the times of its own side. */
  sweep(): void {}

  gone(): void {
    if (!this.#isHandled) this.#port.send([ToOwner.GONE, this.#id])
  }

  receive(kind: number, first: unknown, second: unknown): void {
    const stream = this.#stream
    if (kind === ToThread.RESPOND) stream.respond(bufferOf(first), second === true)
    else if (kind === ToThread.WRITE) {
      stream.write(bufferOf(first), () => this.#port.send([ToOwner.WRITTEN, this.#id]))
      this.#port.send([ToOwner.TAKEN, this.#id])
    } else if (kind === ToThread.FLUSH) stream.flush()
    else if (kind === ToThread.END) stream.end(first === undefined ? undefined : bufferOf(first))
    else if (kind === ToThread.RESET) stream.reset(first as Parameters<RequestStream['reset']>[0])
    else if (kind === ToThread.CONSUMED) stream.consumed(first as number)
    else if (kind === ToThread.WANTS_ROOM)
      stream.whenRoom((sizeBytes) => this.#port.send([ToOwner.ROOM, this.#id, sizeBytes]))
    else {
      this.#isHandled = true
      stream.handled()
      this.#forget()
    }
  }
}

/** Bytes of a connection that may be on their way to the owner. */
const MAX_AHEAD_BYTES = 256 * 1024

/** A connection that the owner serves. Its socket is here. */
class CarriedChannel implements Http1Receiver {
  readonly #channel: Channel
  readonly #connection: number
  readonly #port: BatchedPort
  #aheadBytes = 0
  #isPaused = false

  constructor(channel: Channel, connection: number, port: BatchedPort) {
    this.#channel = channel
    this.#connection = connection
    this.#port = port
  }

  received(bytes: Buffer): void {
    this.#aheadBytes += bytes.length
    this.#port.send([ToOwner.HTTP1_DATA, this.#connection, this.#port.copyOf(bytes)])
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.#channel.pause()
  }

  ended(): void {}

  receive(kind: number, value: unknown): void {
    const channel = this.#channel
    if (kind === ToThread.HTTP1_WRITE)
      channel.write([bufferOf(value)], () => this.#port.send([ToOwner.HTTP1_WRITTEN, this.#connection]))
    else if (kind === ToThread.HTTP1_END) channel.end()
    else {
      if (kind === ToThread.HTTP1_TAKEN) this.#aheadBytes -= value as number
      else this.#isPaused = kind === ToThread.HTTP1_PAUSE
      if (this.#isPaused || this.#aheadBytes > MAX_AHEAD_BYTES) channel.pause()
      else channel.resume()
    }
  }
}
