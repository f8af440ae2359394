import { X509Certificate } from 'node:crypto'
import { Metadata as GrpcMetadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { StatusError } from '../../base/status-error.js'
import type { Encoded } from '../../proto/codec.js'
import type { Metadata } from '../../rpc/rpc.js'
import type { Calls } from '../call/calls.js'
import type { Handler } from '../call/handlers.js'
import { TURNS_BEFORE_END } from '../call/request-messages.js'
import type { Receiver, Wire } from '../call/wire.js'
import { wireStatus } from '../grpc/status.js'

/** What a call is asked for at a time, and while how much of it waits it is not. */
const ASKED_BYTES = 64 * 1024
const MAX_AHEAD_BYTES = 128 * 1024

/** A call as grpc-js brings it. */
export class GrpcJsWire implements Wire {
  readonly #call: ServerInterceptingCallInterface
  readonly #received: GrpcMetadata
  receiver: Receiver | undefined
  lends = false
  #sendingBytes = 0
  #onRoom: ((sizeBytes: number) => void) | undefined
  readonly peer: string
  /** grpc-js buffers by itself: what it holds cannot be counted. */
  readonly held = undefined
  /** Without effect: grpc-js cannot compress what a server sends. */
  compresses = false
  #headers: GrpcMetadata | undefined
  #trailers: GrpcMetadata | undefined
  #hasResponded = false

  private constructor(call: ServerInterceptingCallInterface, headers: GrpcMetadata) {
    this.#call = call
    this.#received = headers
    // Later, when the connection may be gone, grpc-js no longer knows.
    this.peer = call.getPeer()
  }

  static serve(handler: Handler, call: ServerInterceptingCallInterface, calls: Calls): void {
    let wire: GrpcJsWire | undefined
    // Of a call that was cancelled before it began grpc-js reports nothing.
    call.start({
      onReceiveMetadata: (headers: GrpcMetadata) => {
        wire = new GrpcJsWire(call, headers)
        calls.begin(handler, wire)
      },
      onReceiveMessage: (bytes: Buffer) => wire?.message(bytes),
      onReceiveHalfClose: () => wire?.halfClosed(),
      onCancel: () => wire?.cancelled(),
    })
  }

  get clientCertificate(): X509Certificate | undefined {
    const { sslPeerCertificate } = this.#call.getAuthContext()
    return sslPeerCertificate && new X509Certificate(sslPeerCertificate.raw)
  }

  get metadata(): Metadata {
    return new Map(Object.entries(this.#received.getMap()))
  }

  /** Of some headers, `authorization` among them, Node drops all but the first. */
  repeats(name: string): boolean {
    return this.#received.get(name).length > 1
  }

  setHeaders(metadata: Metadata): void {
    if (this.#hasResponded) throw new TypeError('headers were set behind the first response')
    this.#headers = grpcMetadata(metadata)
  }

  setTrailers(metadata: Metadata): void {
    this.#trailers = grpcMetadata(metadata)
  }

  async reserveAnswer(): Promise<void> {}

  read(): void {
    this.#call.startRead()
  }

  send(message: Encoded, sent: () => void = () => {}): undefined {
    const { byteLength } = message
    this.#sendingBytes += byteLength
    this.#respond()
    this.#call.sendMessage(bufferOf(message), () => {
      this.#sendingBytes -= byteLength
      sent()
      this.#ask()
    })
  }

  whenRoom(callback: (sizeBytes: number) => void): void {
    this.#onRoom = callback
    this.#ask()
  }

  end(failure: StatusError | undefined): void {
    if (this.#headers !== undefined) this.#respond()
    const metadata = this.#trailers ?? new GrpcMetadata()
    if (failure === undefined) {
      this.#call.sendStatus({ code: 0, details: 'OK', metadata })
      return
    }
    const { code, message, details } = wireStatus(failure)
    if (details !== undefined) metadata.set('grpc-status-details-bin', details)
    this.#call.sendStatus({ code, details: message, metadata })
  }

  handled(): void {}

  #ask(): void {
    const onRoom = this.#onRoom
    if (onRoom === undefined || this.#sendingBytes >= MAX_AHEAD_BYTES) return
    this.#onRoom = undefined
    onRoom(ASKED_BYTES)
  }

  /** Unpacked already: whether it had to be, grpc-js does not tell. */
  message(bytes: Buffer): void {
    this.receiver?.message(bytes, false, () => {})
  }

  halfClosed(): void {
    this.receiver?.halfClosed()
    this.#lookAgain(TURNS_BEFORE_END)
  }

  // Timers of Node may fire a millisecond before Date says so. A client that ends a late call itself, a moment before
  // we would, is seen as any other that cancels.
  cancelled(): void {
    this.receiver?.cancelled(Number(this.#call.getDeadline()) <= Date.now() + 2)
  }

  #respond(): void {
    if (!this.#hasResponded && this.#headers !== undefined) this.#call.sendMetadata(this.#headers)
    this.#hasResponded = true
  }

  /**
   * A reset stream looks half-closed first and cancelled a moment later: asking for one more read makes grpc-js look at
   * the stream and report it.
   */
  #lookAgain(turns: number): void {
    this.#call.startRead()
    if (turns > 1) setImmediate(() => this.#lookAgain(turns - 1))
  }
}

const grpcMetadata = (metadata: Metadata): GrpcMetadata => {
  const copy = new GrpcMetadata()
  for (const [name, value] of metadata) copy.set(name, value)
  return copy
}

const bufferOf = (message: Encoded): Buffer => {
  if (Buffer.isBuffer(message)) return message
  const bytes = Buffer.allocUnsafe(message.byteLength)
  message.copy(bytes, 0)
  return bytes
}
