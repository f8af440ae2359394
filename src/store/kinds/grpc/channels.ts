import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientWritableStream,
  credentials,
  Metadata,
  connectivityState as State,
} from '@grpc/grpc-js'
import { whenAborted } from '../../../base/cancellation.js'
import { StatusError } from '../../../base/status-error.js'
import type { GrpcEndpoint } from '../../../config/config.js'
import { grpcWay } from '../../../outgoing/grpc-proxy.js'
import type { MethodDefinition } from '../../../proto/service-definition.js'
import type { Address } from '../../../tls/endpoint.js'
import { Semaphore } from '../../../work/semaphore.js'

/** An encoded message, or one for the codec. */
type Message = object | Buffer

/** A call to the other server. */
export interface Outgoing {
  readonly method: MethodDefinition
  readonly headers: ReadonlyMap<string, string | Buffer>
  /** Cancels the call. */
  readonly signal: AbortSignal
}

/** One HTTP/2 connection, opened at the first call and again after a loss. */
export class Channel {
  readonly #endpoint: GrpcEndpoint
  readonly #slots: Semaphore
  readonly #connectTimeoutMs: number
  readonly target: string
  #current: Connected

  constructor(address: Address, endpoint: GrpcEndpoint) {
    this.target = address.target
    this.#endpoint = endpoint
    this.#connectTimeoutMs = endpoint.connect_timeout_s * 1000
    this.#slots = new Semaphore({ permits: endpoint.concurrency_limit })
    this.#current = { client: clientOf(address, endpoint), calls: 0 }
  }

  /** An idle connection starts to connect, so that it is ready at a later turn. */
  get isReady(): boolean {
    return this.#current.client.getChannel().getConnectivityState(true) === State.READY
  }

  /** Opens a new connection with these files for later calls. Calls in flight finish on the old one. */
  renew(address: Address): void {
    const before = this.#current
    this.#current = { client: clientOf(address, this.#endpoint), calls: 0 }
    if (before.calls === 0) before.client.close()
  }

  close(): void {
    this.#current.client.close()
  }

  /** With `isRaw`, request and response are encoded messages. */
  async unary<Response>(request: Message, { method, headers, signal }: Outgoing, isRaw: boolean): Promise<Response> {
    const { client, giveBack } = await this.#open(signal)
    try {
      return await new Promise<Response>((resolve, reject) => {
        const decode = (bytes: Buffer): unknown => (isRaw ? bytes : method.response.decode(bytes))
        const call = client.makeUnaryRequest(
          method.path,
          (message: Message) => encoded(message, method),
          decode,
          request,
          metadataOf(headers),
          (error, response) => (error === null ? resolve(response as Response) : reject(error)),
        )
        untilEnded(call, signal)
      })
    } finally {
      giveBack()
    }
  }

  /** The messages of the response. Destroy the stream to cancel the call. */
  async serverStream(request: Message, { method, headers, signal }: Outgoing): Promise<ClientReadableStream<unknown>> {
    const { client, giveBack } = await this.#open(signal)
    const stream = client.makeServerStreamRequest(
      method.path,
      (message: Message) => encoded(message, method),
      (bytes) => method.response.decode(bytes),
      request,
      metadataOf(headers),
    )
    stream.once('status', giveBack)
    untilEnded(stream, signal)
    return stream
  }

  /** A stream for requests, and the one response, which may arrive before all requests are written. */
  async clientStream<Response>({ method, headers, signal }: Outgoing): Promise<Upstream<Response>> {
    const { client, giveBack } = await this.#open(signal)
    let settle: { resolve: (response: Response) => void; reject: (error: Error) => void } | undefined
    const answer = new Promise<Response>((resolve, reject) => {
      settle = { resolve, reject }
    })
    // The writer sees the failure with its next message, or when it asks for the answer.
    answer.catch(() => {})
    const stream = client.makeClientStreamRequest(
      method.path,
      (message: Message) => encoded(message, method),
      (bytes) => method.response.decode(bytes),
      metadataOf(headers),
      (error, response) => (error === null ? settle?.resolve(response as Response) : settle?.reject(error)),
    )
    stream.on('error', () => {})
    stream.once('status', giveBack)
    untilEnded(stream, signal)
    return { stream, answer }
  }

  /** Messages in both directions. `signal` ends only the wait for a connection: destroy the stream to cancel the call. */
  async duplex({ method, headers, signal }: Outgoing): Promise<ClientDuplexStream<Message, unknown>> {
    const { client, giveBack } = await this.#open(signal)
    const stream = client.makeBidiStreamRequest(
      method.path,
      (message: Message) => encoded(message, method),
      (bytes) => method.response.decode(bytes),
      metadataOf(headers),
    )
    // Who destroys it before listening would end the process.
    stream.on('error', () => {})
    stream.once('status', giveBack)
    stream.once('close', () => stream.cancel())
    return stream
  }

  /** Takes a slot and waits for a pending connection. If the connection is lost, grpc-js fails the call at once. */
  async #open(signal: AbortSignal): Promise<Lent> {
    const leave = await this.#slots.acquire('the connection', signal)
    const connected = this.#current
    connected.calls++
    const giveBack = (): void => {
      leave()
      connected.calls--
      if (connected.calls === 0 && connected !== this.#current) connected.client.close()
    }
    try {
      await this.#connected(connected.client)
      return { client: connected.client, giveBack }
    } catch (error) {
      giveBack()
      throw error
    }
  }

  #connected(client: Client): Promise<void> {
    const channel = client.getChannel()
    const deadlineMs = Date.now() + this.#connectTimeoutMs
    return new Promise((resolve, reject) => {
      const look = (error?: Error): void => {
        const state = channel.getConnectivityState(true)
        const isUnderWay = state === State.IDLE || state === State.CONNECTING
        if (!isUnderWay) resolve()
        else if (error === undefined) channel.watchConnectivityState(state, deadlineMs, look)
        else reject(new StatusError('UNAVAILABLE', `${this.target}: no connection after ${this.#connectTimeoutMs} ms`))
      }
      look()
    })
  }
}

interface Connected {
  readonly client: Client
  /** Calls in flight. */
  calls: number
}

interface Lent {
  readonly client: Client
  readonly giveBack: () => void
}

const clientOf = ({ target, tls }: Address, endpoint: GrpcEndpoint): Client => {
  const secured = tls === undefined ? credentials.createInsecure() : credentials.createSsl(tls.ca, tls.key, tls.cert)
  const way = grpcWay(target)
  return new Client(way.target, secured, {
    ...way.options,
    // By default grpc-js shares one connection among all clients of an address.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
    'grpc.keepalive_time_ms': endpoint.http2_keepalive_interval_s * 1000,
    'grpc.keepalive_timeout_ms': endpoint.http2_keepalive_timeout_s * 1000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
  })
}

export interface Upstream<Response> {
  readonly stream: ClientWritableStream<Message>
  readonly answer: Promise<Response>
}

/** Larger than any batch or result of a server, and small enough for memory. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const encoded = (message: Message, { request }: MethodDefinition): Buffer =>
  Buffer.isBuffer(message) ? message : request.encode(message)

const untilEnded = (
  call: { cancel(): void; once(event: 'status', heard: () => void): unknown },
  signal: AbortSignal,
) => {
  const cancel = (): void => call.cancel()
  if (signal.aborted) cancel()
  whenAborted(signal, cancel)
  call.once('status', () => signal.removeEventListener('abort', cancel))
}

const metadataOf = (headers: ReadonlyMap<string, string | Buffer>): Metadata => {
  const metadata = new Metadata()
  for (const [name, value] of headers) metadata.set(name, value)
  return metadata
}
