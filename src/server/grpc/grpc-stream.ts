import type { X509Certificate } from 'node:crypto'
import type { Metadata } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import type { Encoded } from '../../proto/codec.js'
import type { Receiver, Wire } from '../call/wire.js'
import type { Consumer, Http2Stream } from '../http2/stream.js'
import type { Backlog } from './backlog.js'
import type { Budget } from './budget.js'
import { gzipped } from './encoding.js'
import { type MessageLimits, type MessageSink, Messages, PREFIX_BYTES } from './messages.js'
import { fieldOf, fieldsOf, metadataOf, repeatsField } from './metadata.js'
import type { ResponseBlocks } from './response-blocks.js'
import { timeoutMs } from './timeout.js'

/** Below this a message is copied behind its head: one buffer costs less than two. */
const COPIED_BYTES = 2048
/** Answers below this wait for their client whatever the process holds. */
const FREE_BYTES = 64 * 1024

export interface GrpcStreamOptions extends MessageLimits {
  readonly backlog: Backlog
  readonly blocks: ResponseBlocks
  readonly peer: string
  readonly clientCertificate: X509Certificate | undefined
  /** Compresses responses for clients that say they understand it. */
  readonly sendsGzip: boolean
}

/** A gRPC call on an HTTP/2 stream (gRPC over HTTP2). */
export class GrpcStream implements Wire, Consumer, MessageSink {
  receiver: Receiver | undefined
  /** Told when the handler has ended. */
  onHandled: (() => void) | undefined
  readonly peer: string
  readonly clientCertificate: X509Certificate | undefined
  compresses = true
  readonly #stream: Http2Stream
  readonly #messages: Messages
  readonly #budget: Budget
  readonly #backlog: Backlog
  readonly #blocks: ResponseBlocks
  readonly #isGzip: boolean
  #timer: NodeJS.Timeout | undefined
  #metadata: Metadata | undefined
  #headers: [name: string, value: string][] | undefined
  #trailers: [name: string, value: string][] | undefined
  #hasResponded = false
  #isOver = false

  constructor(stream: Http2Stream, options: GrpcStreamOptions) {
    const { lines } = stream.head
    this.#stream = stream
    this.peer = options.peer
    this.clientCertificate = options.clientCertificate
    this.#budget = options.budget
    this.#backlog = options.backlog
    this.#blocks = options.blocks
    this.#messages = new Messages(this, fieldOf(lines, 'grpc-encoding'), options)
    this.#isGzip = options.sendsGzip && /\bgzip\b/.test(fieldOf(lines, 'grpc-accept-encoding') ?? '')
  }

  get metadata(): Metadata {
    this.#metadata ??= metadataOf(this.#stream.head.lines)
    return this.#metadata
  }

  repeats(name: string): boolean {
    return repeatsField(this.#stream.head.lines, name)
  }

  setHeaders(metadata: Metadata): void {
    if (this.#hasResponded) throw new TypeError('headers were set behind the first response')
    this.#headers = fieldsOf(metadata)
  }

  setTrailers(metadata: Metadata): void {
    this.#trailers = fieldsOf(metadata)
  }

  /** Whether the call has ended, by its answer or because the client is gone. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Ends the call with DEADLINE_EXCEEDED when its client says so, whatever its handler is doing. */
  startDeadline(): void {
    const header = fieldOf(this.#stream.head.lines, 'grpc-timeout')
    const ms = header === undefined ? undefined : timeoutMs(header)
    if (ms === undefined) return
    this.#timer = setTimeout(() => {
      this.end(new StatusError('DEADLINE_EXCEEDED', 'the deadline of the call has passed'))
      this.receiver?.cancelled(true)
    }, ms).unref()
  }

  read(): void {
    this.#messages.read()
  }

  send(message: Encoded, sent?: () => void): StatusError | undefined {
    const { byteLength } = message
    if (this.#isOver || !this.#stream.isWritable) {
      sent?.()
      return undefined
    }
    const isLarge = byteLength > FREE_BYTES
    if (isLarge && !this.#budget.take(byteLength)) {
      return new StatusError('RESOURCE_EXHAUSTED', 'the server holds as many answers as it can: try again later')
    }
    this.#respond()
    if (isLarge && sent === undefined) this.#backlog.add(byteLength)
    const done = isLarge ? () => this.#left(byteLength, sent) : sent
    const packed = this.#isGzip && this.compresses ? gzipped(joined(message)) : undefined
    if (packed !== undefined) this.#write(1, packed, done)
    else this.#write(0, message, done)
    this.#stream.flush()
    return undefined
  }

  whenRoom(callback: (sizeBytes: number) => void): void {
    this.#stream.whenRoom(callback)
  }

  end(failure: StatusError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#headers !== undefined) this.#respond()
    if (this.#hasResponded) this.#stream.end(this.#blocks.trailers(failure, this.#trailers))
    else this.#stream.respond(this.#blocks.alone(failure, this.#trailers), true)
    // What the client still sends is read off: some look for an answer only when they have sent all.
    this.#messages.close()
  }

  handled(): void {
    this.#stream.handled()
    this.onHandled?.()
  }

  data(bytes: Buffer): void {
    this.#messages.data(bytes)
  }

  ended(): void {
    this.#messages.end()
  }

  gone(): void {
    const wasOver = this.#isOver
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#messages.close()
    if (!wasOver) this.receiver?.cancelled(false)
  }

  get lends(): boolean {
    return this.#messages.lends
  }

  set lends(lends: boolean) {
    this.#messages.lends = lends
  }

  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void {
    this.receiver?.message(bytes, cameCompressed, release)
  }

  halfClosed(): void {
    this.receiver?.halfClosed()
  }

  failed(error: StatusError): void {
    this.receiver?.failed(error)
  }

  consumed(sizeBytes: number): void {
    this.#stream.consumed(sizeBytes)
  }

  #left(sizeBytes: number, sent: (() => void) | undefined): void {
    this.#budget.release(sizeBytes)
    if (sent === undefined) this.#backlog.left(sizeBytes)
    else sent()
  }

  #respond(): void {
    if (this.#hasResponded) return
    this.#hasResponded = true
    this.#stream.respond(this.#blocks.head(this.#isGzip, this.#headers), false)
  }

  #write(flag: number, message: Encoded, sent: (() => void) | undefined): void {
    const { byteLength, parts } = message
    if (byteLength <= COPIED_BYTES) {
      const bytes = prefixed(flag, byteLength, byteLength)
      message.copy(bytes, PREFIX_BYTES)
      this.#stream.write(bytes, sent)
      return
    }
    this.#stream.write(prefixed(flag, byteLength, 0))
    const rest = parts?.map(asBuffer) ?? [joined(message)]
    for (const [index, part] of rest.entries()) this.#stream.write(part, index === rest.length - 1 ? sent : undefined)
  }
}

/** A message's head, with room for so many bytes behind it. */
const prefixed = (flag: number, messageBytes: number, roomBytes: number): Buffer => {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + roomBytes)
  bytes[0] = flag
  bytes.writeUInt32BE(messageBytes, 1)
  return bytes
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const joined = (message: Encoded): Buffer => {
  if (Buffer.isBuffer(message)) return message
  const bytes = Buffer.allocUnsafe(message.byteLength)
  message.copy(bytes, 0)
  return bytes
}
