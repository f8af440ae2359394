import type { Client } from '../client.js'
import type { Channel } from '../http2/output.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import type { Http1Receiver } from '../transport/incoming.js'
import { bufferOf, type ThreadChannel } from './channel.js'
import type { CarriedToThread, ConnectionsToOwner } from './events.js'

/** What the owner may do to a connection of this thread. */
export interface Drained {
  drain(): void
  destroy(): void
}

type Owner = ThreadChannel<ConnectionsToOwner>

/**
 * The service thread's side: carries requests, and connections that speak HTTP/1, to the owner of the process. What a client
 * may send before somebody reads is bounded by its windows, and HTTP/1 by pauses, as on one thread.
 */
export class Carrier {
  /** What it hears of the owner. */
  readonly heard: CarriedToThread = {
    drain: (connection) => this.#connections.get(connection)?.drain(),
    destroy: (connection) => this.#connections.get(connection)?.destroy(),
    respond: (request, block, isEnd) => this.#streamOf(request)?.respond(bufferOf(block), isEnd),
    write: (request, bytes) => this.#requests.get(request)?.write(bufferOf(bytes)),
    flush: (request) => this.#streamOf(request)?.flush(),
    end: (request, trailers) => this.#streamOf(request)?.end(trailers && bufferOf(trailers)),
    reset: (request, code) => this.#streamOf(request)?.reset(code),
    consumed: (request, sizeBytes) => this.#streamOf(request)?.consumed(sizeBytes),
    handled: (request) => {
      this.#requests.get(request)?.handled()
      this.#requests.delete(request)
    },
    wantsRoom: (request) =>
      this.#streamOf(request)?.whenRoom((sizeBytes) => this.#owner.send('room', request, sizeBytes)),
    http1Write: (connection, bytes) => this.#channels.get(connection)?.write(bufferOf(bytes)),
    http1Pause: (connection, isPaused) => this.#channels.get(connection)?.pause(isPaused),
    http1End: (connection) => this.#channels.get(connection)?.channel.end(),
    http1Taken: (connection, sizeBytes) => this.#channels.get(connection)?.taken(sizeBytes),
  }
  readonly #owner: Owner
  readonly #connections = new Map<number, Drained>()
  readonly #requests = new Map<number, CarriedRequest>()
  readonly #channels = new Map<number, CarriedChannel>()
  #lastRequest = 0

  constructor(owner: Owner) {
    this.#owner = owner
  }

  opened(connection: number, drained: Drained): void {
    this.#connections.set(connection, drained)
  }

  closed(connection: number): void {
    this.#connections.delete(connection)
    this.#channels.delete(connection)
    this.#owner.send('closed', connection)
  }

  /** The owner serves this request. */
  carry(stream: RequestStream, connection: number, client: Client): void {
    const number = ++this.#lastRequest
    const request = new CarriedRequest(number, stream, this.#owner)
    this.#requests.set(number, request)
    stream.consumer = request
    const { head, isRemoteEnded } = stream
    this.#owner.send('request', number, connection, head, isRemoteEnded, certificateOf(client))
  }

  /** The owner serves this connection. */
  carryHttp1(channel: Channel, connection: number, client: Client): Http1Receiver {
    const carried = new CarriedChannel(channel, connection, this.#owner)
    this.#channels.set(connection, carried)
    this.#owner.send('http1', connection, certificateOf(client))
    return carried
  }

  #streamOf(request: number): RequestStream | undefined {
    return this.#requests.get(request)?.stream
  }
}

const certificateOf = ({ clientCertificate }: Client): Uint8Array | undefined =>
  clientCertificate && new Uint8Array(clientCertificate.raw)

/** A request that the owner serves. Its stream is here. */
class CarriedRequest implements Consumer {
  readonly stream: RequestStream
  readonly #number: number
  readonly #owner: Owner
  #isHandled = false

  constructor(number: number, stream: RequestStream, owner: Owner) {
    this.#number = number
    this.stream = stream
    this.#owner = owner
  }

  data(bytes: Buffer): void {
    // Nobody reads what a client sends behind its answer.
    if (this.#isHandled) this.stream.consumed(bytes.length)
    else this.#owner.send('data', this.#number, this.#owner.copyOf(bytes))
  }

  ended(): void {
    if (!this.#isHandled) this.#owner.send('ended', this.#number)
  }

  /** The owner looks at the times of its own side. */
  sweep(): void {}

  gone(): void {
    if (!this.#isHandled) this.#owner.send('gone', this.#number)
  }

  write(bytes: Buffer): void {
    this.stream.write(bytes, () => this.#owner.send('written', this.#number))
    this.#owner.send('taken', this.#number)
  }

  handled(): void {
    this.#isHandled = true
    this.stream.handled()
  }
}

/** Bytes of a connection that may be on their way to the owner. */
const MAX_AHEAD_BYTES = 256 * 1024

/** A connection that the owner serves. Its socket is here. */
class CarriedChannel implements Http1Receiver {
  readonly channel: Channel
  readonly #connection: number
  readonly #owner: Owner
  #aheadBytes = 0
  #isPaused = false

  constructor(channel: Channel, connection: number, owner: Owner) {
    this.channel = channel
    this.#connection = connection
    this.#owner = owner
  }

  received(bytes: Buffer): void {
    this.#aheadBytes += bytes.length
    this.#owner.send('http1Data', this.#connection, this.#owner.copyOf(bytes))
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.channel.pause()
  }

  ended(): void {}

  write(bytes: Buffer): void {
    this.channel.write([bytes], () => this.#owner.send('http1Written', this.#connection))
  }

  taken(sizeBytes: number): void {
    this.#aheadBytes -= sizeBytes
    this.#pauseOrResume()
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#pauseOrResume()
  }

  #pauseOrResume(): void {
    if (this.#isPaused || this.#aheadBytes > MAX_AHEAD_BYTES) this.channel.pause()
    else this.channel.resume()
  }
}
