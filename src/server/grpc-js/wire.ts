import { X509Certificate } from 'node:crypto'
import { Metadata as GrpcMetadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { StatusError } from '../../base/status-error.js'
import { guardedImmediate } from '../../base/timers.js'
import type { Encoded } from '../../proto/codec.js'
import type { Metadata } from '../../rpc/rpc.js'
import type { Calls } from '../call/calls.js'
import type { Handler } from '../call/handlers.js'
import { TURNS_BEFORE_END } from '../call/request-messages.js'
import type { Receiver, Wire } from '../call/wire.js'
import { wireStatus } from '../grpc/status.js'

/** The number of bytes requested from a call at a time, and the queue size at which no more are requested. */
const ASKED_BYTES = 64 * 1024
const MAX_AHEAD_BYTES = 128 * 1024

/** A call of grpc-js. */
export class GrpcJsWire implements Wire {
  readonly #call: ServerInterceptingCallInterface
  readonly #received: GrpcMetadata
  receiver: Receiver | undefined
  lends = false
  #sendingBytes = 0
  #onRoom: ((sizeBytes: number) => void) | undefined
  readonly peer: string
  /** Undefined, because grpc-js has its own buffers, which cannot be accounted for. */
  readonly held = undefined
  /** Without effect: grpc-js cannot compress responses of a server. */
  compresses = false
  #headers: GrpcMetadata | undefined
  #trailers: GrpcMetadata | undefined
  #hasResponded = false

  private constructor(call: ServerInterceptingCallInterface, headers: GrpcMetadata) {
    this.#call = call
    this.#received = headers
    // Read now, because grpc-js no longer knows it after the connection has closed.
    this.peer = call.getPeer()
  }

  static serve(handler: Handler, call: ServerInterceptingCallInterface, calls: Calls): void {
    let wire: GrpcJsWire | undefined
    // grpc-js reports nothing for a call that was cancelled before it began.
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

  header(name: string): string | Buffer | undefined {
    return this.#received.get(name)[0]
  }

  /** Node drops all but the first value of some headers, including `authorization`. */
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

  /** Already decompressed; grpc-js does not report whether it was compressed. */
  message(bytes: Buffer): void {
    this.receiver?.message(bytes, false, () => {})
  }

  halfClosed(): void {
    this.receiver?.halfClosed()
    this.#lookAgain(TURNS_BEFORE_END)
  }

  // Node's timers may fire a millisecond before Date shows the time. If a client cancels a late call itself just before
  // the server would, it counts as an ordinary cancellation.
  cancelled(): void {
    this.receiver?.cancelled(Number(this.#call.getDeadline()) <= Date.now() + 2)
  }

  #respond(): void {
    if (!this.#hasResponded && this.#headers !== undefined) this.#call.sendMetadata(this.#headers)
    this.#hasResponded = true
  }

  /**
   * A reset stream first looks half-closed and is cancelled a moment later. Another read makes grpc-js check the stream
   * and report the reset.
   */
  #lookAgain(turns: number): void {
    this.#call.startRead()
    if (turns > 1) guardedImmediate(() => this.#lookAgain(turns - 1))
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
