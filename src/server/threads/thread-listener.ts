import { Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import type { Caller, ThreadGate } from '../../rpc/gate.js'
import type { Service } from '../../rpc/rpc.js'
import { within } from '../../work/deadline.js'
import { InFlight } from '../../work/in-flight.js'
import { Calls, type CallsParts } from '../call/calls.js'
import { type Client, markUnix } from '../client.js'
import { metadataOf, repeatsField } from '../grpc/metadata.js'
import { HttpRequests } from '../http/requests.js'
import type { RequestStream } from '../http2/request-stream.js'
import { Handshakes } from '../sockets.js'
import { RemexecTransport, type TransportLimits } from '../transport/transport.js'
import type { MessageCompression } from '../transport.js'
import type { Carrier } from './carrier.js'
import { bufferOf } from './channel.js'

/** What a service thread knows of a listener of the process. It can be sent to a thread. */
export interface ThreadListenerOptions {
  readonly tls: TlsOptions | undefined
  readonly maxMessageBytes: number
  readonly firstBytesMs: number
  readonly readOffMs: number
  readonly compression: MessageCompression
  readonly limits: Partial<TransportLimits>
}

export interface ThreadListenerParts {
  readonly carrier: Carrier
  readonly calls: Pick<CallsParts, 'meters' | 'shownShare' | 'invocations' | 'records'>
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
}

/** A connection as the owner hands it over. */
export interface HandedSocket {
  readonly number: number
  readonly fd: number
  /** The row of its address in the ledger. */
  readonly row: number
  readonly isUnix: boolean
  /** What was read from it. */
  readonly head: Uint8Array
}

/** What the owner tells a thread about listeners. */
export interface ListenersToThread {
  /** Before it gets connections of the listener. */
  listener(listener: number, options: ThreadListenerOptions): void
  /** Other TLS files. */
  renewTls(listener: number, tls: TlsOptions): void
  /** Answered once the calls that the thread serves for the listener have ended; after `drainMs` they end with UNAVAILABLE. */
  close(listener: number, drainMs: number): Promise<void>
  socket(listener: number, handed: HandedSocket): void
}

/** The connections of one listener that a service thread has. */
export class ThreadListener {
  readonly #transport: RemexecTransport
  readonly #calls: Calls
  readonly #inFlight: InFlight
  readonly #handshakes: Handshakes | undefined
  readonly #carrier: Carrier
  #gate: ThreadGate | undefined
  /** Connections whose handshake is not complete. */
  readonly #begun = new WeakMap<Socket, HandedSocket>()

  constructor(options: ThreadListenerOptions, { carrier, calls: callsParts, ledger, clock, log }: ThreadListenerParts) {
    const { tls, firstBytesMs } = options
    const inFlight = new InFlight()
    const requests = new HttpRequests([], { log, inFlight, gate: undefined, shownShare: 0 })
    const calls = new Calls([], { ...callsParts, log, inFlight })
    this.#calls = calls
    this.#inFlight = inFlight
    this.#transport = new RemexecTransport(
      { ...options, calls, http1: undefined, requests, ledger, clock, log },
      options.limits,
    )
    this.#carrier = carrier
    this.#handshakes =
      tls && new Handshakes(tls, { handshakeMs: firstBytesMs, clock, log }, (socket) => this.#agreed(socket))
  }

  take(handed: HandedSocket): void {
    const socket = new Socket({ fd: handed.fd })
    socket.unshift(bufferOf(handed.head))
    if (handed.isUnix) markUnix(socket)
    if (this.#handshakes === undefined) {
      this.#accept(socket, handed, () => this.#carrier.closed(handed.number))
      return
    }
    const end = (): void => {
      socket.destroy()
    }
    this.#carrier.opened(handed.number, { drain: end, destroy: end })
    socket.once('close', () => this.#carrier.closed(handed.number))
    this.#begun.set(socket, handed)
    this.#handshakes.begin(socket)
  }

  /** This thread serves these methods too from now on, and admits their callers by this gate. */
  serve(services: readonly Service[], gate: ThreadGate | undefined): void {
    this.#gate = gate
    this.#calls.gate = gate
    this.#calls.add(services)
  }

  /** Resolves once the calls that this thread serves have ended; after `drainMs` they end with UNAVAILABLE. */
  async close(drainMs: number): Promise<void> {
    await within(drainMs, this.#inFlight.idle())
    this.#calls.stop(new StatusError('UNAVAILABLE', 'the server is shutting down'))
  }

  renewTls(tls: TlsOptions): void {
    this.#handshakes?.renew(tls)
  }

  /** `socket` is that of TLS; below it is the one that was begun. */
  #agreed(socket: Socket): void {
    const below: unknown = Reflect.get(socket, '_parent')
    const handed = below instanceof Socket ? this.#begun.get(below) : undefined
    if (handed === undefined) throw new Error('a handshake ended that was not begun')
    this.#accept(socket, handed, () => {})
  }

  #accept(socket: Socket, { number, row }: HandedSocket, closed: () => void): void {
    const carrier = this.#carrier
    const incoming = this.#transport.accept(socket, closed, {
      row,
      elsewhere: {
        isOfCaller: (stream, client) => this.#gate !== undefined && !this.#gate.knows(callerOf(stream, client)),
        carry: (stream, client) => carrier.carry(stream, number, client),
      },
    })
    carrier.opened(number, incoming)
  }
}

const callerOf = ({ head: { lines } }: RequestStream, { peer, clientCertificate }: Client): Caller => ({
  metadata: metadataOf(lines),
  repeats: (name) => repeatsField(lines, name),
  ...{ peer, clientCertificate },
})
