import type { Readable, Writable } from 'node:stream'
import type { LogFields } from '../log/log.js'
import type { Call } from './call.js'
import type { Visitor } from './gate.js'

/**
 * What a gRPC service looks like to the listener: handlers by method name. The listener knows the wire types from
 * `protos/` by the service's full name, so a service names no path, no codec and no transport.
 *
 * Streams of messages are object-mode Node streams with the usual backpressure. A handler fails by throwing (or by
 * destroying its stream with) a StatusError; what it throws becomes the status of the call.
 */
export interface Service {
  /** Full protobuf name, e.g. `build.bazel.remote.execution.v2.ActionCache`. */
  readonly name: string
  /** The instances that it serves, by name; absent where its methods name none. */
  readonly instances?: ReadonlyMap<string, unknown>
  readonly unary?: Readonly<Record<string, Unary>>
  /** Methods whose messages are large enough to be read and written by hand: both as they are on the wire. */
  readonly unaryBytes?: Readonly<Record<string, Unary<Buffer, Buffer>>>
  readonly serverStreaming?: Readonly<Record<string, ServerStreaming>>
  readonly clientStreaming?: Readonly<Record<string, ClientStreaming>>
  readonly bidirectional?: Readonly<Record<string, Bidirectional>>
}

/** Names in lower case; values of `-bin` names are bytes, others printable ASCII. */
export type Metadata = ReadonlyMap<string, string | Buffer>

/** A Call of a client: who asks, and what came beside the request. */
export interface RpcCall extends Call {
  /** `host:port` of the client. */
  readonly peer: string
  /** Of the request. Of several values the first. */
  readonly metadata: Metadata
  /** What the client may do, where that is restricted. */
  readonly visitor?: Visitor | undefined
}

/** What a handler is given: a call that also says how it is answered. */
export interface ServedCall extends RpcCall {
  /** Metadata to send in front of the first response. Throws when that has been sent, and for names that are gRPC's own. */
  setHeaders(metadata: Metadata): void
  /** Adds to the line of this call in the log. */
  note(fields: LogFields): void
  /** Metadata to send with the status. Throws for names that are gRPC's own. */
  setTrailers(metadata: Metadata): void
  /**
   * False for responses that would not get smaller. Where it stays true, messages are still compressed only if the
   * listener does so and the client understands it.
   */
  compressesResponses: boolean
  /**
   * To be awaited before an answer is made that is large and whose size is known before: resolves once its client has taken
   * enough of the answers before it. Rejects with CANCELLED when the call is over, and with RESOURCE_EXHAUSTED when the process
   * holds too many answers.
   */
  reserveAnswer(sizeBytes: number): Promise<void>
  /** Whether a message of the request came compressed, as far as the transport tells: grpc-js does not. */
  cameCompressed(request: object): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: messages of every type pass here; each service states its own.
type Message = any

/** Answers with the response message, or with the bytes of one (`EncodedMessage` of `proto/codec`). */
export type Unary<Q = Message, R = Message> = (request: Q, call: ServedCall) => Promise<R>

/**
 * The responses of a call: a stream of messages, or, for who sends from memory that is used again, one message after the
 * other as the client has room for it.
 */
export interface Responses extends Writable {
  /** Resolves with how many bytes it is time to send; rejects when the call is over. One at a time. */
  room(): Promise<number>
  /** Sends a message whose bytes stay as they are until `sent` is called: once, when they have left or never will. */
  lend(message: object, sent: () => void): void
}

/** Resolves once everything was given to `responses`; the listener ends the stream and sends the status. */
export type ServerStreaming<Q = Message> = (request: Q, call: ServedCall, responses: Responses) => Promise<void>

/** A request message whose bytes are lent: they stay as they are until `release`, which may be left to the collector. */
export interface LentMessage<Q = Message> {
  readonly message: Q
  release(): void
}

export interface RequestMessages<Q = Message> {
  /**
   * The next message; undefined only once the client half-closed. Rejects when it cannot be decoded, and with a StatusError
   * when the call is over. One at a time.
   */
  next(): Promise<LentMessage<Q> | undefined>
}

/**
 * May resolve before the last of `requests`: the answer goes out at once and the listener reads off the rest. Methods that
 * stream much data are of this kind, so a message is theirs for as long as they need it, and its memory is then used again.
 */
export type ClientStreaming<Q = Message, R = Message> = (requests: RequestMessages<Q>, call: ServedCall) => Promise<R>

/** `requests` ends only when the client half-closed: a call that is given up destroys it with a StatusError instead. */
export type Bidirectional = (requests: Readable, responses: Responses, call: ServedCall) => Promise<void>
