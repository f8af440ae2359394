import type { Socket } from 'node:net'
import { StatusError } from '../../base/status-error.js'
import type { Handler } from '../call/handlers.js'
import type { Client } from '../client.js'
import { Connections } from '../connections.js'
import { Backlog } from '../grpc/backlog.js'
import { Budget } from '../grpc/budget.js'
import { checkEncoding } from '../grpc/encoding.js'
import { GrpcStream } from '../grpc/grpc-stream.js'
import { fieldOf } from '../grpc/metadata.js'
import { ResponseBlocks } from '../grpc/response-blocks.js'
import { type ConnectionLimits, DEFAULT_LIMITS } from '../http2/limits.js'
import type { Http2Stream } from '../http2/stream.js'
import type { Transport, TransportParts } from '../transport.js'
import { Incoming } from './incoming.js'
import { answerNoGrpc } from './pages.js'

/** Bounds on what the connections of a listener cost together. */
export interface TransportLimits extends ConnectionLimits {
  /** Answers that wait for the client of one connection before none of its further requests is begun. */
  readonly maxBacklogBytes: number
  /** Requests that come in and answers that wait, of those above 64 KiB; the default is shared by all listeners of the process. */
  readonly maxHeldBytes: number
  /** Calls that stream their requests, uploads first of all, at a time. */
  readonly maxUploads: number
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  ...DEFAULT_LIMITS,
  maxBacklogBytes: 16 * 1024 * 1024,
  maxHeldBytes: 512 * 1024 * 1024,
  maxUploads: 1024,
}

const SWEEP_MS = 1000

/** One for all listeners of the process. */
const processBudget = new Budget(DEFAULT_TRANSPORT_LIMITS.maxHeldBytes)

/** gRPC on our own HTTP/2: which handler serves a request (gRPC over HTTP2, Requests), and the end of all (RFC 9113, 6.8 and 9.1). */
export class RemexecTransport implements Transport {
  readonly #parts: TransportParts
  readonly #limits: TransportLimits
  readonly #budget: Budget
  readonly #blocks: ResponseBlocks
  readonly #incoming = new Connections<Incoming>()
  readonly #stopSweep: () => void
  /** Time by the sweeps: it only grows, and stands still while the process does, which is not the clients' fault. */
  #nowMs = 0
  #uploads = 0
  #isDraining = false

  constructor(parts: TransportParts, limits: Partial<TransportLimits> = {}) {
    const { firstBytesMs: greetingMs, readOffMs, clock } = parts
    this.#parts = parts
    this.#limits = { ...DEFAULT_TRANSPORT_LIMITS, greetingMs, readOffMs, ...limits }
    this.#budget = limits.maxHeldBytes === undefined ? processBudget : new Budget(limits.maxHeldBytes)
    this.#blocks = new ResponseBlocks(parts.compression.accepted)
    const periodMs = Math.max(1, Math.min(SWEEP_MS, this.#limits.greetingMs / 2, this.#limits.readOffMs / 2))
    this.#stopSweep = clock.every(periodMs, () => {
      this.#nowMs += periodMs
      for (const incoming of this.#incoming) incoming.sweep(this.#nowMs)
    })
  }

  accept(socket: Socket, closed: () => void): void {
    const { http, log } = this.#parts
    const backlog = new Backlog(this.#limits.maxBacklogBytes)
    const incoming: Incoming = new Incoming(socket, {
      limits: this.#limits,
      now: () => this.#nowMs,
      http,
      onRequest: (stream, client) => this.#request(stream, backlog, client),
      onClose: () => {
        this.#incoming.delete(incoming)
        closed()
      },
      log,
    })
    this.#incoming.add(incoming)
    if (this.#isDraining) incoming.drain()
  }

  drain(): void {
    this.#isDraining = true
    for (const incoming of this.#incoming) incoming.drain()
  }

  idle(): Promise<void> {
    return this.#incoming.idle()
  }

  destroy(): void {
    this.#stopSweep()
    for (const incoming of this.#incoming) incoming.destroy()
  }

  #request(stream: Http2Stream, backlog: Backlog, client: Client): void {
    const { method, lines, path } = stream.head
    if (!/^application\/grpc(\+proto)?($|;)/.test(fieldOf(lines, 'content-type') ?? '') || method !== 'POST') {
      answerNoGrpc(stream, this.#parts.pages, client)
      return
    }
    const { maxMessageBytes, compression } = this.#parts
    const { sendsGzip } = compression
    const held = { budget: this.#budget, backlog }
    const wire = new GrpcStream(stream, { maxMessageBytes, sendsGzip, ...held, blocks: this.#blocks, ...client })
    stream.consumer = wire
    try {
      this.#begin(wire, this.#handlerFor(stream), backlog)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      wire.end(error)
      wire.handled()
      this.#parts.log.debug('call refused', () => ({ method: path, peer: client.peer, reason: error.message }))
    }
  }

  /** What serves a request; throws what makes it impossible to serve. */
  #handlerFor({ head: { path, lines } }: Http2Stream): Handler {
    const handler = this.#parts.calls.handlers.get(path)
    if (handler === undefined) {
      throw new StatusError('UNIMPLEMENTED', `the server does not implement the method ${path.slice(0, 200)}`)
    }
    checkEncoding(fieldOf(lines, 'grpc-encoding'), this.#parts.compression.accepted)
    return handler
  }

  #begin(wire: GrpcStream, handler: Handler, backlog: Backlog): void {
    wire.startDeadline()
    const { calls } = this.#parts
    if (handler.kind !== 'unary') {
      if (handler.kind === 'clientStream') this.#countUpload(wire)
      calls.begin(handler, wire)
      return
    }
    wire.onHandled = () => backlog.answered()
    backlog.whenCalm(() => {
      // The client may have given up while it waited.
      if (wire.isOver) wire.handled()
      else calls.begin(handler, wire)
    })
  }

  #countUpload(wire: GrpcStream): void {
    if (this.#uploads >= this.#limits.maxUploads) {
      const problem = 'as many uploads are under way as the server takes'
      throw new StatusError('RESOURCE_EXHAUSTED', `${problem}, ${this.#limits.maxUploads}: try again later`)
    }
    this.#uploads += 1
    wire.onHandled = () => {
      this.#uploads -= 1
    }
  }
}
