import type { X509Certificate } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Kind } from '../../ledger/kind.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { Encoded } from '../../proto/codec.js'
import type { Metadata } from '../../rpc/rpc.js'
import type { PerTurn } from '../../work/per-turn.js'
import type { Receiver, Wire } from '../call/wire.js'
import type { Client } from '../client.js'
import type { Held } from '../held.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import { type Backlog, UNANSWERED_BYTES } from './backlog.js'
import { gzipped } from './encoding.js'
import { type MessageLimits, type MessageSink, Messages, PREFIX_BYTES } from './messages.js'
import { fieldOf, fieldsOf, metadataOf, repeatsField } from './metadata.js'
import type { ResponseBlocks } from './response-blocks.js'
import { timeoutMs } from './timeout.js'

/** A smaller message is copied behind its prefix, because one buffer costs less than two. */
const COPIED_BYTES = 2048
/**
 * Smaller answers do not count for the backlog of their connection. A call that is not answered yet counts this much.
 */
const SMALL_BYTES = 64 * 1024

/** The limits and shared state of all calls of a connection. */
export interface GrpcConnection extends MessageLimits {
  readonly backlog: Backlog
  /** Accounts for memory of answers. */
  readonly answersKind: Kind
  readonly blocks: ResponseBlocks
  /** Compresses responses for clients that accept it. */
  readonly sendsGzip: boolean
}

/** A gRPC call on an HTTP/2 stream (gRPC over HTTP2). */
export class GrpcStream implements Wire, Consumer, MessageSink {
  receiver: Receiver | undefined
  /** Called when the handler has ended. */
  onHandled: (() => void) | undefined
  readonly peer: string
  readonly clientCertificate: X509Certificate | undefined
  compresses = true
  /** Whether `requestMs` applies to messages that the handler waits for. */
  hasTimeout = true
  readonly #stream: RequestStream
  readonly #messages: Messages
  readonly #connection: GrpcConnection
  readonly #isGzip: boolean
  #timer: NodeJS.Timeout | undefined
  #metadata: Metadata | undefined
  #headers: [name: string, value: string][] | undefined
  #trailers: [name: string, value: string][] | undefined
  #hasResponded = false
  #isOver = false
  /** The reservation for an answer that is being made, and its share of the backlog. */
  #reserved: Reservation | undefined
  #backlogBytes = 0
  /** Ends the wait for room: to begin, or to make an answer. */
  #giveUpWaiting: (() => void) | undefined
  /** The call has one answer and counts as unanswered in the backlog. */
  #isUnanswered = false

  constructor(stream: RequestStream, connection: GrpcConnection, { peer, clientCertificate }: Client) {
    const { lines } = stream.head
    this.#stream = stream
    this.#connection = connection
    this.peer = peer
    this.clientCertificate = clientCertificate
    this.#messages = new Messages(this, fieldOf(lines, 'grpc-encoding'), connection)
    this.#isGzip = connection.sendsGzip && /\bgzip\b/.test(fieldOf(lines, 'grpc-accept-encoding') ?? '')
  }

  get metadata(): Metadata {
    this.#metadata ??= metadataOf(this.#stream.head.lines)
    return this.#metadata
  }

  header(name: string): string | undefined {
    return fieldOf(this.#stream.head.lines, name)
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

  /** Ends the call with DEADLINE_EXCEEDED after the client's timeout, whatever its handler is doing. */
  startDeadline(): void {
    const header = fieldOf(this.#stream.head.lines, 'grpc-timeout')
    const ms = header === undefined ? undefined : timeoutMs(header)
    if (ms === undefined) return
    this.#timer = guardedTimeout(() => {
      this.end(new StatusError('DEADLINE_EXCEEDED', 'the deadline of the call has passed'))
      this.receiver?.cancelled(true)
    }, ms).unref()
  }

  get held(): Held {
    return this.#connection.held
  }

  read(): void {
    this.#messages.read()
  }

  /** Whether the connection has room for a call that has one answer. If so, the call counts as unanswered from now on. */
  isAnswerable(): boolean {
    this.#isUnanswered = this.#connection.backlog.take(UNANSWERED_BYTES)
    return this.#isUnanswered
  }

  /** Begins a call that is not answerable once it is. Calls `givenUp` instead if the call ends before. */
  whenAnswerable(begin: () => void, givenUp: () => void): void {
    const { backlog } = this.#connection
    const waiting = {
      sizeBytes: UNANSWERED_BYTES,
      begin: () => {
        this.#giveUpWaiting = undefined
        this.#isUnanswered = true
        begin()
      },
    }
    backlog.wait(waiting)
    this.#giveUpWaiting = () => {
      backlog.forget(waiting)
      this.handled()
      givenUp()
    }
  }

  /** Begins a call in a later turn. Calls `givenUp` instead if the call ends before. */
  whenTurn(starts: PerTurn, begin: () => void, givenUp: () => void): void {
    const start = (): void => {
      this.#giveUpWaiting = undefined
      begin()
    }
    starts.wait(start)
    this.#giveUpWaiting = () => {
      starts.forget(start)
      this.handled()
      givenUp()
    }
  }

  async reserveAnswer(sizeBytes: number): Promise<void> {
    // While the call waits here it must not count as unanswered. If all calls waited, there would be no room for any.
    this.#answered()
    if (this.#isOver) throw notWanted()
    if (this.#connection.backlog.take(sizeBytes)) this.#backlogBytes = sizeBytes
    else await this.#backlogRoom(sizeBytes)
    this.#reserved = this.#connection.answersKind.reserveOrThrow(this.#connection.held.holder, sizeBytes)
  }

  #backlogRoom(sizeBytes: number): Promise<void> {
    const { backlog } = this.#connection
    return new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        this.#giveUpWaiting = undefined
        this.#backlogBytes = sizeBytes
        resolve()
      }
      const waiting = { sizeBytes, begin }
      this.#giveUpWaiting = () => {
        backlog.forget(waiting)
        reject(notWanted())
      }
      backlog.wait(waiting)
    })
  }

  send(message: Encoded, sent?: () => void): StatusError | undefined {
    const { byteLength } = message
    if (this.#isOver || !this.#stream.isWritable) {
      sent?.()
      return undefined
    }
    this.#unreserve()
    const isLarge = byteLength > SMALL_BYTES
    if (!this.#stream.makeRoom(byteLength)) {
      return new StatusError('RESOURCE_EXHAUSTED', 'the server has no memory left for answers: try again later')
    }
    this.#respond()
    const isInBacklog = isLarge && sent === undefined
    if (isInBacklog) this.#connection.backlog.add(byteLength)
    const done = isInBacklog ? () => this.#connection.backlog.left(byteLength) : sent
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
    this.#stopWaiting()
    if (this.#headers !== undefined) this.#respond()
    if (this.#hasResponded) this.#stream.end(this.#connection.blocks.trailers(failure, this.#trailers))
    else this.#stream.respond(this.#connection.blocks.alone(failure, this.#trailers), true)
    // The rest of the request is read and dropped, because some clients look for an answer only after they have sent
    // everything.
    this.#messages.close()
  }

  handled(): void {
    this.#answered()
    this.#unreserve()
    this.#stream.handled()
    this.onHandled?.()
  }

  data(bytes: Buffer): void {
    this.#messages.data(bytes)
  }

  ended(): void {
    this.#messages.end()
  }

  sweep(nowMs: number): void {
    if (this.hasTimeout) this.#messages.sweep(nowMs)
  }

  gone(): void {
    const wasOver = this.#isOver
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#stopWaiting()
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

  failed(error: StatusError, isOurs: boolean): void {
    this.receiver?.failed(error, isOurs)
  }

  consumed(sizeBytes: number): void {
    this.#stream.consumed(sizeBytes)
  }

  #answered(): void {
    if (!this.#isUnanswered) return
    this.#isUnanswered = false
    this.#connection.backlog.left(UNANSWERED_BYTES)
  }

  /** Call when the answer is made, or never will be. */
  #unreserve(): void {
    this.#reserved?.release()
    this.#reserved = undefined
    const sizeBytes = this.#backlogBytes
    this.#backlogBytes = 0
    if (sizeBytes > 0) this.#connection.backlog.left(sizeBytes)
  }

  #stopWaiting(): void {
    const giveUp = this.#giveUpWaiting
    this.#giveUpWaiting = undefined
    giveUp?.()
  }

  #respond(): void {
    if (this.#hasResponded) return
    this.#hasResponded = true
    this.#stream.respond(this.#connection.blocks.head(this.#isGzip, this.#headers), false)
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

const notWanted = (): StatusError => new StatusError('CANCELLED', 'the client no longer wants an answer')

/** A message prefix, with room for `roomBytes` behind it. */
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
