import type { Client } from '../client.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import { bufferOf, type ThreadChannel } from './channel.js'
import type { CarriedToThread, ConnectionsToOwner } from './events.js'

/** What the owner may do to a connection of this thread. */
export interface Drained {
  drain(): void
  destroy(): void
}

type Owner = ThreadChannel<ConnectionsToOwner>

/**
 * The service thread's side: carries requests to the owner of the process. What a client may send before somebody reads is bounded by
 * its windows, as on one thread.
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
  }
  readonly #owner: Owner
  readonly #connections = new Map<number, Drained>()
  readonly #requests = new Map<number, CarriedRequest>()
  #lastRequest = 0

  constructor(owner: Owner) {
    this.#owner = owner
  }

  opened(connection: number, drained: Drained): void {
    this.#connections.set(connection, drained)
  }

  closed(connection: number): void {
    this.#connections.delete(connection)
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
