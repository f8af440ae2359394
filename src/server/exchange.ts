import type { ServerHttp2Stream } from 'node:http2'
import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js'
import type { Log, LogFields } from '../base/log.js'
import { Code, codeName, StatusError } from '../base/status-error.js'
import { type Encoded, EncodedMessage } from '../proto/codec.js'
import type { MethodDefinition } from '../proto/service-definition.js'
import type { UnderWay } from './calls-under-way.js'
import { boundReadOff, http2StreamOf, peerOf } from './http2-stream.js'
import { MessageSender } from './message-sender.js'
import { RequestStream } from './request-stream.js'
import { ResponseStream } from './response-stream.js'
import { type Origin, requestFields, WireCall } from './rpc-call.js'
import { OK, type WireStatus, wireStatus } from './status.js'

/** Where messages of the client go, one for each `startRead`. */
interface Receiver {
  message(bytes: Buffer): void
  halfClosed(): void
}

export interface ExchangeOptions {
  readonly log: Log
  /** How long a client may go on sending once its call was answered. */
  readonly readOffMs: number
}

const serverFaults = new Set<number>([Code.UNKNOWN, Code.INTERNAL, Code.DATA_LOSS])

/** One RPC between the client and a handler: its messages, its end, its line in the log. */
export class Exchange implements UnderWay, Origin {
  position = 0
  readonly metadata: Metadata
  readonly log: Log
  readonly peer: string
  readonly #method: MethodDefinition
  readonly #wire: ServerInterceptingCallInterface
  readonly #stream: ServerHttp2Stream | undefined
  readonly #readOffMs: number
  readonly #startedMs = performance.now()
  #abort: AbortController | undefined
  #receiver: Receiver | undefined
  #failRequest: ((reason: StatusError) => void) | undefined
  #requests: RequestStream | undefined
  #responses: ResponseStream | undefined
  #cancelled: StatusError | undefined
  #cancelledCode: number = Code.CANCELLED
  #ended = false

  constructor(
    method: MethodDefinition,
    wire: ServerInterceptingCallInterface,
    metadata: Metadata,
    { log, readOffMs }: ExchangeOptions,
  ) {
    this.#method = method
    this.#wire = wire
    this.#stream = http2StreamOf(wire)
    this.metadata = metadata
    this.log = log
    this.#readOffMs = readOffMs
    this.peer = peerOf(wire, this.#stream)
  }

  call(request?: unknown): WireCall {
    return new WireCall(this, request)
  }

  decode(request: Buffer): unknown {
    return this.#method.request.decode(request)
  }

  /** The request of a call that has exactly one. */
  requestBytes(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let received: Buffer | undefined
      this.#receiver = {
        message: (bytes) => {
          if (received !== undefined) reject(this.#miscounted('more than one'))
          received = bytes
          this.#wire.startRead()
        },
        halfClosed: () => {
          if (received === undefined) reject(this.#miscounted('no'))
          else resolve(received)
        },
      }
      this.#failRequest = reject
      this.#wire.startRead()
    })
  }

  requests(): RequestStream {
    const stream = new RequestStream(
      (bytes) => this.#method.request.decode(bytes),
      () => this.#wire.startRead(),
    )
    this.#receiver = stream
    this.#requests = stream
    return stream
  }

  responses(): ResponseStream {
    const sender = new MessageSender(this.#wire)
    const stream = new ResponseStream(
      (message) => this.#encode(message),
      (bytes, sent) => sender.send(bytes, sent),
    )
    this.#responses = stream
    return stream
  }

  /** The response of a call that has exactly one, and with it the end of the call. */
  respond(message: unknown): void {
    this.respondBytes(this.#encode(message))
  }

  respondBytes(bytes: Encoded): void {
    this.#wire.sendMessage(bytes, () => {})
    this.#end(OK)
  }

  /** Ends the call well once everything written to `responses` was handed to the transport. */
  async finish(): Promise<void> {
    const responses = this.#responses
    if (responses !== undefined) await finishedWriting(responses)
    this.#end(OK)
  }

  /** Ends the call with what was thrown. */
  fail(thrown: unknown): void {
    const error = StatusError.from(thrown)
    this.#end(wireStatus(error), error)
  }

  received(bytes: Buffer): void {
    this.#receiver?.message(bytes)
  }

  halfClosed(): void {
    this.#receiver?.halfClosed()
  }

  /** grpc-js reports this after every call, also after one that ended well: then there is nothing left to cancel. */
  cancel(): void {
    if (this.#ended || this.#cancelled !== undefined) return
    const reason = this.#isLate ? 'the deadline of the call has passed' : 'the client cancelled the call'
    this.#cancelledCode = this.#isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED
    this.#giveUp(new StatusError('CANCELLED', reason))
  }

  /** Ends the call from our side, whatever its handler is doing. */
  stop(error: StatusError): void {
    if (this.#ended) return
    this.#end(wireStatus(error), error)
    if (this.#cancelled === undefined) this.#giveUp(error)
  }

  /** Few handlers ever ask for it, and a signal costs more than the rest of a small call. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#cancelled !== undefined) this.#abort.abort(this.#cancelled)
    }
    return this.#abort.signal
  }

  #giveUp(reason: StatusError): void {
    this.#cancelled = reason
    this.#failRequest?.(reason)
    this.#requests?.destroy(reason)
    this.#responses?.destroy(reason)
    this.#abort?.abort(reason)
  }

  #end(status: WireStatus, error?: StatusError): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#cancelled === undefined) this.#sendStatus(status)
    const code = this.#cancelled === undefined ? status.code : this.#cancelledCode
    const fields = (): LogFields => ({
      method: this.#method.path,
      code: codeName(code),
      ms: Math.round((performance.now() - this.#startedMs) * 10) / 10,
      peer: this.peer,
      ...requestFields(this.metadata),
    })
    if (error === undefined) this.log.debug('call', fields)
    else if (serverFaults.has(status.code)) this.log.error('call failed', { ...fields(), error })
    else this.log.debug('call', () => ({ ...fields(), reason: error.message }))
  }

  #sendStatus(status: WireStatus): void {
    this.#wire.sendStatus(status)
    if (this.#stream !== undefined) boundReadOff(this.#stream, this.#readOffMs)
  }

  // Timers of Node may fire a millisecond before Date says so. A client that ends a late call itself, a moment before
  // we would, is seen as any other that cancels.
  get #isLate(): boolean {
    return Number(this.#wire.getDeadline()) <= Date.now() + 2
  }

  #encode(message: unknown): Encoded {
    if (message instanceof EncodedMessage) return message.bytes
    const { response } = this.#method
    // Where grpc-js sends a message it copies it into a frame, and asks for nothing but `byteLength` and `copy` to do so.
    if (typeof message === 'object' && message !== null) return response.gather?.(message) ?? response.encode(message)
    throw new TypeError(
      `${this.#method.path} answered ${String(message)}, expected a ${this.#method.response.typeName}`,
    )
  }

  // The code grpc's own libraries give when a call breaks the number of messages its method has.
  #miscounted(found: string): StatusError {
    return new StatusError('UNIMPLEMENTED', `${this.#method.path} takes exactly one request message, got ${found}`)
  }
}

const finishedWriting = (stream: ResponseStream): Promise<void> =>
  new Promise((resolve, reject) => {
    if (stream.writableFinished) resolve()
    else if (stream.destroyed) reject(stream.errored ?? closedEarly())
    else {
      stream.once('finish', resolve).once('error', reject)
      stream.once('close', () => {
        if (!stream.writableFinished) reject(closedEarly())
      })
      stream.end()
    }
  })

const closedEarly = (): Error => new Error('the handler closed its responses before everything was written')
