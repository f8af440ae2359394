import type { Socket } from 'node:net'
import { StatusError } from '../../base/status-error.js'
import { UPLOAD_BYTES } from '../../ledger/kinds.js'
import { type Ration, SparingLog } from '../../log/sparing-log.js'
import { PerTurn } from '../../work/per-turn.js'
import type { Handler } from '../call/handlers.js'
import type { Client } from '../client.js'
import { Connections } from '../connections.js'
import { Backlog } from '../grpc/backlog.js'
import { checkEncoding } from '../grpc/encoding.js'
import { type GrpcConnection, GrpcStream } from '../grpc/grpc-stream.js'
import { fieldOf } from '../grpc/metadata.js'
import { ResponseBlocks } from '../grpc/response-blocks.js'
import { Held } from '../held.js'
import { answerNoGrpc } from '../http/http2.js'
import { type ConnectionLimits, DEFAULT_LIMITS } from '../http2/limits.js'
import type { RequestStream } from '../http2/request-stream.js'
import type { RemoteConnection, RemoteEnd } from '../threads/remote-connections.js'
import type { Transport, TransportParts } from '../transport.js'
import { Incoming } from './incoming.js'

/** Bounds for the connections of a listener. */
export interface TransportLimits extends ConnectionLimits {
  /** Answers that may wait for the client of one connection before its further requests wait too. */
  readonly maxBacklogBytes: number
  /** How long a message may stay incomplete while its handler waits for it, in ms. */
  readonly requestMs: number
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  ...DEFAULT_LIMITS,
  maxBacklogBytes: 16 * 1024 * 1024,
  requestMs: 120_000,
}

const SWEEP_MS = 1000

/** Serves the requests of a connection that are not for this thread. */
export interface Elsewhere {
  /** Whether a request is carried because of its caller, though this thread serves the method. */
  isOfCaller(stream: RequestStream, client: Client): boolean
  carry(stream: RequestStream, client: Client): void
}

/** A connection that another thread accepted. */
export interface HandedOver {
  readonly elsewhere: Elsewhere
  /** The row of its address in the ledger. */
  readonly row: number
}

/** A connection, wherever its socket is. */
interface Connected {
  sweep(nowMs: number): void
  drain(): void
  destroy(): void
}

/**
 * Streaming calls that begin in one turn of the event loop. Each opens files, streams or walks: 0.1 to 0.3 ms. Without
 * this bound, one read of a socket begins some 300 of them, and all other calls wait.
 */
const STARTS_PER_TURN = 32

/** Of each kind that clients cause. */
const WARNINGS: Ration = { lines: 1, periodMs: 60_000 }

/**
 * gRPC on our own HTTP/2: selects the handler of a request (gRPC over HTTP2, Requests), and closes all connections (RFC
 * 9113, 6.8 and 9.1).
 */
export class RemexecTransport implements Transport {
  readonly #parts: TransportParts
  readonly #limits: TransportLimits
  readonly #blocks: ResponseBlocks
  readonly #incoming = new Connections<Connected>()
  readonly #stopSweep: () => void
  readonly #warnings: SparingLog
  readonly #starts = new PerTurn(STARTS_PER_TURN)
  /** Time counted by sweeps. It stands still while the process is blocked, because that is not the clients' fault. */
  #nowMs = 0
  #isDraining = false

  constructor(parts: TransportParts, limits: Partial<TransportLimits> = {}) {
    const { firstBytesMs: greetingMs, readOffMs, clock } = parts
    this.#parts = parts
    this.#warnings = new SparingLog(parts.log, clock, WARNINGS)
    this.#limits = { ...DEFAULT_TRANSPORT_LIMITS, greetingMs, readOffMs, ...limits }
    this.#blocks = new ResponseBlocks(parts.compression.accepted)
    const periodMs = Math.max(1, Math.min(SWEEP_MS, this.#limits.greetingMs / 2, this.#limits.readOffMs / 2))
    this.#stopSweep = clock.every(periodMs, () => {
      this.#nowMs += periodMs
      for (const incoming of this.#incoming) incoming.sweep(this.#nowMs)
    })
  }

  accept(socket: Socket, closed: () => void, handedOver?: HandedOver): Connected {
    const connection = this.#connectionOf(socket.remoteAddress ?? '', handedOver?.row)
    const { held } = connection
    const elsewhere = handedOver?.elsewhere
    const { http1 } = this.#parts
    const incoming: Incoming = new Incoming(socket, {
      limits: this.#limits,
      now: () => this.#nowMs,
      held,
      onHttp1: http1 && ((accepted, client) => http1.accept(accepted, { client, held })),
      onRequest: (stream, client) => {
        const isHere = elsewhere === undefined || this.#parts.calls.handlers.has(stream.head.path)
        if (isHere && elsewhere?.isOfCaller(stream, client) !== true) this.#request(stream, connection, client)
        else elsewhere?.carry(stream, client)
      },
      onClose: () => {
        this.#incoming.delete(incoming)
        held.close()
        closed()
      },
      log: this.#parts.log,
      warnings: this.#warnings,
    })
    this.#incoming.add(incoming)
    if (this.#isDraining) incoming.drain()
    return incoming
  }

  /** Serves the requests of a connection whose socket a service thread has. */
  acceptRemote(remote: RemoteConnection, address: string): RemoteEnd {
    const connection = this.#connectionOf(address)
    const { held } = connection
    this.#incoming.add(remote)
    if (this.#isDraining) remote.drain()
    return {
      held,
      request: (stream, client) => this.#request(stream, connection, client),
      closed: () => {
        this.#incoming.delete(remote)
        held.close()
      },
    }
  }

  drain(): void {
    this.#isDraining = true
    this.#parts.http1?.drain()
    for (const incoming of this.#incoming) incoming.drain()
  }

  idle(): Promise<void> {
    return this.#incoming.idle()
  }

  destroy(): void {
    this.#stopSweep()
    this.#parts.http1?.close()
    for (const incoming of this.#incoming) incoming.destroy()
  }

  #connectionOf(address: string, row?: number): GrpcConnection {
    const { maxMessageBytes, compression, ledger } = this.#parts
    return {
      maxMessageBytes,
      requestMs: this.#limits.requestMs,
      held: new Held(ledger, address, row),
      backlog: new Backlog(this.#limits.maxBacklogBytes),
      unpackedKind: ledger.kinds.unpacked,
      answersKind: ledger.kinds.answers,
      blocks: this.#blocks,
      sendsGzip: compression.sendsGzip,
    }
  }

  #request(stream: RequestStream, connection: GrpcConnection, client: Client): void {
    const { method, lines, path } = stream.head
    if (!/^application\/grpc(\+proto)?($|;)/.test(fieldOf(lines, 'content-type') ?? '') || method !== 'POST') {
      answerNoGrpc(stream, this.#parts.requests, { client, held: connection.held, bodyMs: this.#limits.requestMs })
      return
    }
    const wire = new GrpcStream(stream, connection, client)
    stream.consumer = wire
    try {
      this.#begin(wire, this.#handlerFor(stream))
    } catch (thrown) {
      const error = StatusError.from(thrown)
      wire.end(error)
      wire.handled()
      this.#parts.log.debug('call refused', () => ({ method: path, peer: client.peer, reason: error.message }))
    }
  }

  /** The handler of a request. Throws if the request cannot be served. */
  #handlerFor({ head: { path, lines } }: RequestStream): Handler {
    const handler = this.#parts.calls.handlers.get(path)
    if (handler === undefined) {
      throw new StatusError('UNIMPLEMENTED', `the server does not implement the method ${path.slice(0, 200)}`)
    }
    checkEncoding(fieldOf(lines, 'grpc-encoding'), this.#parts.compression.accepted)
    return handler
  }

  #begin(wire: GrpcStream, handler: Handler): void {
    wire.startDeadline()
    const { calls } = this.#parts
    // In a bidirectional call, no message of the client is due at a certain time.
    wire.hasTimeout = handler.kind !== 'bidi'
    if (handler.kind === 'unary') {
      if (wire.isAnswerable()) calls.begin(handler, wire)
      else calls.beginWhen(handler, wire, (begin, givenUp) => wire.whenAnswerable(begin, givenUp))
      return
    }
    if (handler.kind === 'clientStream') this.#countUpload(wire)
    if (this.#starts.take()) calls.begin(handler, wire)
    else calls.beginWhen(handler, wire, (begin, givenUp) => wire.whenTurn(this.#starts, begin, givenUp))
  }

  #countUpload(wire: GrpcStream): void {
    const reservation = this.#parts.ledger.kinds.uploads.reserve(wire.held.holder, UPLOAD_BYTES)
    if (reservation === undefined) {
      throw new StatusError('RESOURCE_EXHAUSTED', 'the server has too many open uploads: try again later')
    }
    wire.onHandled = () => reservation.release()
  }
}
