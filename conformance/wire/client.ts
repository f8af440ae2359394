import {
  type CallOptions,
  Client as Channel,
  type ChannelCredentials,
  type ClientDuplexStream,
  type ClientOptions,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { codec } from '../proto/codec.js'
import { type MethodDefinition, serviceDefinition } from '../proto/service-definition.js'
import { Code } from '../proto/status-code.js'
import { type Identity, REQUEST_METADATA, requestMetadata } from './identity.js'
import type { Any, Method } from './methods.js'
import { Patience } from './patience.js'
import { show } from './show.js'

const statusCodec = codec('google.rpc.Status')

/** How one call ended, and everything that came before. */
export interface Outcome<R> {
  /** `Service.Method`, without the package. */
  readonly method: string
  readonly code: number
  readonly message: string
  /** From `grpc-status-details-bin`; its `code` must equal the call's. */
  readonly details: readonly { readonly typeUrl: string; readonly value: Buffer }[]
  readonly detailsCode: number | undefined
  readonly responses: readonly R[]
  /** The first messages in both directions, shortened: `>` sent, `<` received. */
  readonly messages: readonly string[]
  /** If a response message does not decode, the call ends with this text. */
  readonly garbage: string | undefined
  readonly elapsedMs: number
  /** The suite's own deadline ended the call, not the server. */
  readonly isOverdue: boolean
}

export interface CallSettings {
  /** The deadline that the check sets for this call. Default 10 s. */
  readonly deadlineMs?: number
  readonly headers?: Readonly<Record<string, string | Buffer>>
  /** The `action_id` in RequestMetadata. */
  readonly actionId?: string
  /** Leaves RequestMetadata out, or sends these bytes instead. */
  readonly requestMetadata?: 'none' | Buffer
  /** Stops reading after this many responses and cancels. */
  readonly maxResponses?: number
  /** Receives each response as it comes; none is kept. For content larger than a check should hold. */
  // biome-ignore lint/suspicious/noExplicitAny: the response of whatever method is called.
  readonly onResponse?: (response: any) => void
  /** The call is cut off when the server sends more than this. Default 64 MiB. */
  readonly mostResponseBytes?: number
}

/** A message to send: typed, or raw bytes for content that no codec would write. */
export type Outgoing<Q> = Q | Buffer

const DEADLINE_MS = 10_000
const MOST_NOTED = 16
/** The bound keeps a server that never stops sending from filling memory; no check asks for half as much. */
const MOST_RESPONSE_BYTES = 64 << 20

/**
 * Calls any method of any gRPC server by its table entry and reports how it ended. Never throws because of the server.
 */
export class Client {
  readonly #channel: Channel
  readonly #headers: Readonly<Record<string, string>>
  readonly #identity: Identity
  readonly #patience: Patience
  readonly #answered: Set<string> | undefined

  constructor(
    address: string,
    credentials: ChannelCredentials,
    options: {
      headers: Readonly<Record<string, string>>
      identity: Identity
      /** Generated if absent. */
      patience?: Patience
      /** Collects the methods that answer OK, as `Service.Method`. */
      answered?: Set<string>
      channel?: ClientOptions
    },
  ) {
    this.#channel = new Channel(address, credentials, {
      'grpc.max_receive_message_length': 64 << 20,
      'grpc.max_send_message_length': 64 << 20,
      'grpc.use_local_subchannel_pool': 1,
      // A short backoff finds a restarted server soon.
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 1_000,
      ...options.channel,
    })
    this.#headers = options.headers
    this.#identity = options.identity
    this.#patience = options.patience ?? new Patience()
    this.#answered = options.answered
  }

  /** Sends the requests (one for a unary method), half-closes, and waits for the end of the call. */
  call<Q, R>(
    method: Method<Q, R>,
    requests: Outgoing<Q> | readonly Outgoing<Q>[],
    settings: CallSettings = {},
  ): Promise<Outcome<R>> {
    return this.open(method, settings).sendAll(requests)
  }

  /** Opens a call that the check drives message by message. Works for every method. */
  open<Q, R>(method: Method<Q, R>, settings: CallSettings = {}): Conversation<Q, R> {
    const definition = definitionOf(method)
    const deadlineMs = this.#patience.deadlineMs(method.name, settings.deadlineMs ?? DEADLINE_MS)
    const options: CallOptions = { deadline: Date.now() + deadlineMs }
    const call = this.#channel.makeBidiStreamRequest<Buffer, Buffer>(
      definition.path,
      (bytes) => bytes,
      (bytes) => bytes,
      this.#metadata(settings),
      options,
    )
    const conversation = new Conversation<Q, R>(definition, call, { ...settings, deadlineMs })
    conversation.outcome.then((outcome) => {
      if (outcome.code === Code.OK) this.#answered?.add(outcome.method)
      // A call that the client cancelled before any response proves neither an answer nor silence.
      const isTelling = !conversation.isCancelled || outcome.responses.length > 0
      if (isTelling) this.#patience.noteEnd(method.name, outcome)
    })
    return conversation
  }

  waitForReady(deadlineMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const until = Date.now() + this.#patience.scaledMs(deadlineMs)
      this.#channel.waitForReady(until, (error) => (error ? reject(error) : resolve()))
    })
  }

  close(): void {
    this.#channel.close()
  }

  #metadata(settings: CallSettings): Metadata {
    const metadata = new Metadata()
    for (const [name, value] of Object.entries({ ...this.#headers, ...settings.headers })) metadata.set(name, value)
    if (settings.requestMetadata !== 'none') {
      const bytes = settings.requestMetadata ?? requestMetadata(this.#identity, settings.actionId ?? 'capabilities')
      metadata.set(REQUEST_METADATA, bytes)
    }
    return metadata
  }
}

/** One open call. Responses queue up until they are read; `outcome` settles when the call has ended. */
export class Conversation<Q, R> {
  readonly outcome: Promise<Outcome<R>>
  hasEnded = false
  /** Cancelled by the suite. */
  isCancelled = false
  readonly #definition: MethodDefinition
  readonly #call: ClientDuplexStream<Buffer, Buffer>
  readonly #responses: R[] = []
  readonly #waiting: (() => void)[] = []
  readonly #log: string[] = []
  #taken = 0
  #responseBytes = 0
  #garbage: string | undefined
  readonly #onResponse: CallSettings['onResponse']
  readonly #mostResponseBytes: number
  readonly #deadlineMs: number

  constructor(
    definition: MethodDefinition,
    call: ClientDuplexStream<Buffer, Buffer>,
    settings: CallSettings & { readonly deadlineMs: number },
  ) {
    const { maxResponses = Number.POSITIVE_INFINITY } = settings
    this.#definition = definition
    this.#call = call
    this.#onResponse = settings.onResponse
    this.#mostResponseBytes = settings.mostResponseBytes ?? MOST_RESPONSE_BYTES
    this.#deadlineMs = settings.deadlineMs
    const startMs = performance.now()
    call.on('data', (bytes: Buffer) => {
      this.#take(bytes)
      if (this.#responses.length >= maxResponses) call.cancel()
    })
    // The status event always comes and has the same facts; an unhandled error would end the process.
    call.on('error', (_: ServiceError) => {})
    this.outcome = new Promise((resolve) => {
      call.on('status', (status) => {
        this.hasEnded = true
        this.#wake()
        resolve(this.#end(status, performance.now() - startMs))
      })
    })
  }

  /** Sends these messages, half-closes, and waits for the end of the call. */
  async sendAll(requests: Outgoing<Q> | readonly Outgoing<Q>[]): Promise<Outcome<R>> {
    for (const request of Array.isArray(requests) ? requests : [requests]) {
      if (this.hasEnded) break
      await this.send(request as Outgoing<Q>)
    }
    this.halfClose()
    return this.outcome
  }

  /** Resolves when the transport has room for more, or the call has ended. */
  send(message: Outgoing<Q>): Promise<void> {
    this.#note('>', message)
    const bytes = Buffer.isBuffer(message) ? message : this.#definition.request.encode(message as object)
    if (this.hasEnded || this.#call.write(bytes)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#call.once('drain', resolve)
      this.outcome.then(() => resolve())
    })
  }

  halfClose(): void {
    if (!this.hasEnded) this.#call.end()
  }

  cancel(): void {
    this.isCancelled = true
    this.#call.cancel()
  }

  /** Stops reading, so that flow control reaches the server; `resume` continues. */
  pause(): void {
    this.#call.pause()
  }

  resume(): void {
    this.#call.resume()
  }

  /** The next response, or undefined if the call ended first. */
  async next(): Promise<R | undefined> {
    while (this.#taken >= this.#responses.length && !this.hasEnded) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.#responses[this.#taken++]
  }

  #take(bytes: Buffer): void {
    if (this.#garbage !== undefined) return
    this.#responseBytes += bytes.length
    try {
      if (this.#responseBytes > this.#mostResponseBytes) throw new Error(`more than ${this.#mostResponseBytes} bytes`)
      const response = this.#definition.response.decode(bytes) as R
      this.#note('<', response)
      if (this.#onResponse === undefined) this.#responses.push(response)
      else this.#onResponse(response)
    } catch (error) {
      this.#garbage = error instanceof Error ? error.message : String(error)
      this.#call.cancel()
    }
    this.#wake()
  }

  #note(direction: '>' | '<', message: unknown): void {
    if (this.#log.length < MOST_NOTED) this.#log.push(`${direction} ${show(message)}`)
    else if (this.#log.length === MOST_NOTED) this.#log.push('... and more')
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #end(status: StatusObject, elapsedMs: number): Outcome<R> {
    const [encoded] = status.metadata.get('grpc-status-details-bin')
    const details = Buffer.isBuffer(encoded) ? decodeStatus(encoded) : undefined
    return {
      method: this.#definition.path.replace(/^.*\.(\w+)\/(\w+)$/, '$1.$2'),
      code: status.code,
      message: status.details,
      details: details?.details ?? [],
      detailsCode: details?.code,
      responses: this.#responses,
      messages: this.#log,
      garbage: this.#garbage,
      elapsedMs,
      // The server knows the deadline and may report its expiry first.
      isOverdue: status.code === Code.DEADLINE_EXCEEDED && elapsedMs >= this.#deadlineMs - 50,
    }
  }
}

const decodeStatus = (bytes: Buffer): { code: number; details: Outcome<unknown>['details'] } => {
  try {
    const status = statusCodec.decode(bytes)
    return { code: status.code, details: status.details.map(({ typeUrl, value }) => ({ typeUrl, value })) }
  } catch {
    // An undecodable trailer is a finding, not a crash: no status has this code.
    return { code: -1, details: [] }
  }
}

const definitions = new Map<string, MethodDefinition>()

const definitionOf = (method: Method<Any, Any>): MethodDefinition => {
  const key = `${method.service}/${method.name}`
  const known = definitions.get(key)
  if (known !== undefined) return known
  const found = serviceDefinition(method.service).methods.find(({ name }) => name === method.name)
  if (found === undefined) throw new Error(`no method ${key} in protos/`)
  definitions.set(key, found)
  return found
}
