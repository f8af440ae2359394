import { Code, codeName, StatusError } from '../../base/status-error.js'
import { freshMs, turnMs } from '../../base/turn-clock.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Log, LogFields } from '../../log/log.js'
import { type Encoded, EncodedMessage } from '../../proto/codec.js'
import { REQUEST_METADATA } from '../../proto/request-metadata.js'
import type { MethodDefinition } from '../../proto/service-definition.js'
import type { Gate, Visitor } from '../../rpc/gate.js'
import type { Invocation, Invocations } from '../../rpc/invocations.js'
import type { ActionOutcome, RequestRecords } from '../../rpc/request-records.js'
import type { Metadata, ServedCall } from '../../rpc/rpc.js'
import type { Span } from '../../rpc/trace.js'
import type { Positioned } from './calls-in-flight.js'
import { finishedWriting } from './finished-writing.js'
import { buildOf } from './invocation-id.js'
import type { CallMeter } from './meter.js'
import { PulledMessages } from './request-messages.js'
import { requestFields } from './request-metadata.js'
import { RequestStream } from './request-stream.js'
import { attributesOf, instanceNameOf, subjectFields } from './request-subject.js'
import { ResponseStream } from './response-stream.js'
import type { Receiver, Wire } from './wire.js'

const serverFaults = new Set<number>([Code.UNKNOWN, Code.INTERNAL, Code.DATA_LOSS])

/** Receives the client's messages, one for each `Wire.read`. */
type Messages = Pick<Receiver, 'message' | 'halfClosed'>

/**
 * One RPC between a client and a handler: its messages, its end and its log line. The only object per call, for any
 * transport. Services see it as a ServedCall.
 */
export class ServerCall implements ServedCall, Receiver, Positioned {
  position = 0
  /** Set when the request is decoded, or by the handler that reads it. Empty if it names no instance. */
  instanceName = ''
  readonly log: Log
  /** The share of calls logged at level info, if this call is one of them. */
  shownShare: number | undefined
  /** Set if the call is traced. */
  span: Span | undefined
  /** Set if there is a gate. */
  visitor: Visitor | undefined
  /** Set if blobs are kept for builds. */
  invocations: Invocations | undefined
  /** Set if requests about actions are recorded. */
  records: Pick<RequestRecords, 'add'> | undefined
  /** Null until it is looked up. */
  #invocation: Invocation | undefined | null = null
  #endInvocation: (() => void) | undefined
  readonly #method: MethodDefinition
  readonly #wire: Wire
  readonly #meter: CallMeter
  readonly #startedMs = turnMs()
  #abort: AbortController | undefined
  #messages: Messages | undefined
  #failRequest: ((reason: StatusError) => void) | undefined
  #requests: { destroy(reason: Error): void } | undefined
  #responses: ResponseStream | undefined
  #givenUp: StatusError | undefined
  #isEnded = false
  #isChecked = false
  /** gRPC requires INTERNAL for some errors of clients. The log must not show those as errors of the server. */
  #isClientFault = false
  #receivedBytes = 0
  #sentBytes = 0
  #subject: object | undefined
  #notes: LogFields | undefined
  /** Messages that arrived compressed. Created lazily, because there are few. */
  #compressed: WeakSet<object> | undefined

  constructor(method: MethodDefinition, wire: Wire, log: Log, meter: CallMeter) {
    this.#method = method
    this.#meter = meter
    this.#wire = wire
    this.log = log
  }

  get peer(): string {
    return this.#wire.peer
  }

  get metadata(): Metadata {
    return this.#wire.metadata
  }

  get held(): HeldFor | undefined {
    return this.#wire.held
  }

  record(outcome: ActionOutcome): void {
    const scope = this.visitor?.scopeIn(this.instanceName)?.name
    this.records?.add(this.instanceName, this.#wire.header(REQUEST_METADATA), outcome, scope)
    const { invocation } = this
    // A branch may name the build of another.
    if (invocation !== undefined && scope === undefined) this.invocations?.asked(invocation, outcome.outcome)
  }

  /** Looked up when a store asks. A call with a stream of responses, such as Execute, keeps it alive until it ends. */
  get invocation(): Invocation | undefined {
    if (this.#invocation === null) this.#invocation = this.invocations && this.#invocationOf(this.invocations)
    return this.#invocation
  }

  #invocationOf(invocations: Invocations): Invocation | undefined {
    const { id, isLeaseExtension } = buildOf(this.#wire.header(REQUEST_METADATA))
    if (isLeaseExtension) invocations.extensionCount += 1
    if (id !== '' && this.#method.responseStream && !this.#isEnded) this.#endInvocation = invocations.opened(id)
    return id === '' ? undefined : invocations.touch(id)
  }

  reserveAnswer(sizeBytes: number): Promise<void> {
    return this.#wire.reserveAnswer(sizeBytes)
  }

  setHeaders(metadata: Metadata): void {
    this.#wire.setHeaders(metadata)
  }

  setTrailers(metadata: Metadata): void {
    this.#wire.setTrailers(metadata)
  }

  get compressesResponses(): boolean {
    return this.#wire.compresses
  }

  set compressesResponses(compresses: boolean) {
    this.#wire.compresses = compresses
  }

  cameCompressed(request: object): boolean {
    return this.#compressed?.has(request) ?? false
  }

  /** Asks the gate whether the caller may use the method; throws if not. */
  async pass(gate: Gate): Promise<void> {
    const admitted = gate.admit(this.#method.path, this.#wire)
    this.visitor = admitted instanceof Promise ? await admitted : admitted
    if (this.#givenUp !== undefined) throw this.#givenUp
  }

  note(fields: LogFields): void {
    this.#notes = { ...this.#notes, ...fields }
  }

  /** Created lazily: few handlers use it, and it costs more than the rest of a small call. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#givenUp !== undefined) this.#abort.abort(this.#givenUp)
    }
    return this.#abort.signal
  }

  whyCancelled(): StatusError | undefined {
    return this.#givenUp
  }

  /** The decoded request of a call with exactly one. */
  async request(): Promise<unknown> {
    const bytes = await this.#requestBytes()
    const request = this.#decode(bytes, this.cameCompressed(bytes))
    this.instanceName = instanceNameOf(request)
    return request
  }

  isFor(instanceName: string): void {
    this.instanceName = instanceName
  }

  /** Like `request`, but encoded. */
  async requestBytes(): Promise<Buffer> {
    return this.#checked(await this.#requestBytes())
  }

  #requestBytes(): Promise<Buffer> {
    // A call that was given up gets no more messages.
    if (this.#givenUp !== undefined) return Promise.reject(this.#givenUp)
    return new Promise((resolve, reject) => {
      let received: Buffer | undefined
      this.#failRequest = reject
      this.#messages = {
        message: (bytes, cameCompressed) => {
          if (received !== undefined) reject(this.#miscounted('more than one'))
          received = this.#marked(bytes, cameCompressed)
          this.#wire.read()
        },
        halfClosed: () => {
          if (received === undefined) reject(this.#miscounted('no'))
          else resolve(received)
        },
      }
      this.#wire.read()
    })
  }

  /** `areEncoded`: the handler decodes the messages itself. */
  requests(areEncoded = false): RequestStream {
    const stream = new RequestStream(areEncoded ? this.#pulledBytes() : this.#pulled())
    this.#requests = stream
    if (this.#givenUp !== undefined) stream.destroy(this.#givenUp)
    return stream
  }

  requestMessages(): PulledMessages {
    this.#wire.lends = true
    const messages = this.#pulled()
    this.#requests = messages
    if (this.#givenUp !== undefined) messages.destroy(this.#givenUp)
    return messages
  }

  /** If the call was given up, the stream is already destroyed, because no later event would destroy it. */
  responses(): ResponseStream {
    const stream = new ResponseStream({
      send: (message, sent) => {
        const bytes = this.#encode(message)
        const refusal = this.#wire.send(bytes, () => sent(bytes.byteLength))
        if (refusal !== undefined) throw refusal
        this.#sentBytes += bytes.byteLength
        return bytes.byteLength
      },
      whenRoom: (callback) => this.#wire.whenRoom(callback),
    })
    this.#responses = stream
    if (this.#givenUp !== undefined) stream.destroy(this.#givenUp)
    return stream
  }

  /** Sends the response of a call with exactly one, and ends the call. */
  respond(message: unknown): void {
    this.respondBytes(this.#encode(message))
  }

  respondBytes(bytes: Encoded): void {
    if (this.#isEnded) return
    this.#sentBytes += bytes.byteLength
    this.#end(this.#wire.send(bytes))
  }

  /** Ends the call with OK once everything written to `responses` was passed to the transport. */
  async finish(): Promise<void> {
    if (this.#responses !== undefined) await finishedWriting(this.#responses)
    this.#end(undefined)
  }

  /** Ends the call with the thrown error. */
  fail(thrown: unknown): void {
    this.#end(StatusError.from(thrown))
  }

  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void {
    this.#receivedBytes += bytes.length
    this.#messages?.message(bytes, cameCompressed, release)
  }

  halfClosed(): void {
    this.#messages?.halfClosed()
  }

  failed(error: StatusError, isOurs: boolean): void {
    this.#isClientFault = !isOurs
    this.stop(error)
  }

  cancelled(isLate: boolean): void {
    if (this.#isEnded || this.#givenUp !== undefined) return
    this.#isEnded = true
    this.#logEnd(isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED, undefined)
    this.#giveUp(
      new StatusError('CANCELLED', isLate ? 'the deadline of the call has passed' : 'the client cancelled the call'),
    )
  }

  /** Ends the call from the server's side, whatever its handler is doing. */
  stop(error: StatusError): void {
    if (this.#isEnded) return
    this.#end(error)
    this.#giveUp(error)
  }

  #pulled(): PulledMessages {
    const messages = new PulledMessages({
      decode: (bytes, cameCompressed) => this.#decode(bytes, cameCompressed),
      askForOne: () => this.#wire.read(),
    })
    this.#messages = messages
    return messages
  }

  #pulledBytes(): PulledMessages {
    const messages = new PulledMessages({
      decode: (bytes) => this.#checked(bytes),
      askForOne: () => this.#wire.read(),
    })
    this.#messages = messages
    return messages
  }

  #giveUp(reason: StatusError): void {
    this.#givenUp = reason
    this.#failRequest?.(reason)
    this.#requests?.destroy(reason)
    this.#responses?.destroy(reason)
    this.#abort?.abort(reason)
  }

  #end(thrown: StatusError | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    // OK is no failure. A handler that throws it has a bug, and the client must not see success.
    const failure = thrown?.code === Code.OK ? new StatusError('INTERNAL', 'internal error', { cause: thrown }) : thrown
    this.#wire.end(failure)
    this.#logEnd(failure?.code ?? Code.OK, failure)
  }

  #logEnd(code: number, error: StatusError | undefined): void {
    this.#endInvocation?.()
    this.#meter.ended(code, this.#startedMs, this.instanceName)
    this.#endSpan(code, error)
    if (error !== undefined && serverFaults.has(code) && !this.#isClientFault)
      this.log.error('call failed', { ...this.#line(code), error })
    else if (this.shownShare === undefined) this.log.debug('call', () => this.#line(code, error))
    else this.log.info('call', { ...this.#line(code, error), share: this.shownShare })
  }

  #line(code: number, error?: StatusError): LogFields {
    return {
      method: this.#method.path,
      code: codeName(code),
      ms: Math.round((freshMs() - this.#startedMs) * 10) / 10,
      peer: this.peer,
      instance: this.instanceName,
      receivedBytes: this.#receivedBytes,
      sentBytes: this.#sentBytes,
      ...subjectFields(this.#subject),
      ...requestFields(this.metadata),
      ...(this.visitor && { identity: this.visitor.identity }),
      ...this.#notes,
      ...(error && { reason: error.message }),
    }
  }

  #endSpan(code: number, error: StatusError | undefined): void {
    if (this.span === undefined) return
    const failure = error ?? (code === Code.OK ? undefined : new StatusError(code as Code, 'the call was given up'))
    const about = { instance: this.instanceName, ...requestFields(this.metadata), ...this.#notes }
    this.span.end(failure, { 'rpc.grpc.status_code': code, ...attributesOf(about) })
  }

  /** Keeps the facts of a request for the log line; of a stream's message only the resource name, not its bytes. */
  #about<T extends object>(request: T): T {
    const isStream = this.#method.requestStream
    this.#subject ??= isStream && 'resourceName' in request ? { resourceName: request.resourceName } : request
    return request
  }

  #decode(bytes: Buffer, cameCompressed: boolean): object {
    const message = this.#checked(this.#method.request.decode(bytes) as object)
    return this.#marked(this.#about(message), cameCompressed)
  }

  /** Lets the gate check the first message; later messages belong to the same call. */
  #checked<T extends object>(message: T): T {
    if (!this.#isChecked) this.visitor?.check(this.#method.path, message, this.#wire.peer)
    this.#isChecked = true
    return message
  }

  #marked<T extends object>(message: T, cameCompressed: boolean): T {
    if (cameCompressed) {
      this.#compressed ??= new WeakSet()
      this.#compressed.add(message)
    }
    return message
  }

  #encode(message: unknown): Encoded {
    if (message instanceof EncodedMessage) return message.bytes
    const { response } = this.#method
    // A message in parts is sent without being copied together.
    if (typeof message === 'object' && message !== null) return response.gather?.(message) ?? response.encode(message)
    throw new TypeError(`${this.#method.path} answered ${String(message)}, expected a ${response.typeName}`)
  }

  // The code that grpc's libraries return if a call has the wrong number of messages.
  #miscounted(found: string): StatusError {
    return new StatusError('UNIMPLEMENTED', `${this.#method.path} takes exactly one request message, got ${found}`)
  }
}
