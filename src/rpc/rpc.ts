import type { Readable, Writable } from 'node:stream'
import type { LogFields } from '../log/log.js'
import type { Call } from './call.js'
import type { Visitor } from './gate.js'
import type { ActionOutcome } from './request-records.js'

/**
 * A gRPC service as the listener sees it: handlers by method name. The listener finds the message types in `protos/` by
 * the full name of the service, so a service knows no paths, codecs or transport.
 *
 * Streams of messages are Node streams in object mode with the usual backpressure. A handler fails by throwing a
 * StatusError, or by destroying its stream with one. That becomes the status of the call.
 */
export interface Service {
  /** Full protobuf name, e.g. `build.bazel.remote.execution.v2.ActionCache`. */
  readonly name: string
  /** The instances that it serves, by name; absent if its methods name none. */
  readonly instances?: ReadonlyMap<string, unknown>
  readonly unary?: Readonly<Record<string, Unary>>
  /** Methods with large messages, which the service decodes and encodes itself. */
  readonly unaryBytes?: Readonly<Record<string, Unary<Buffer, Buffer>>>
  readonly serverStreaming?: Readonly<Record<string, ServerStreaming>>
  readonly clientStreaming?: Readonly<Record<string, ClientStreaming>>
  readonly bidirectional?: Readonly<Record<string, Bidirectional>>
  /** The same with requests that the service decodes itself. */
  readonly bidirectionalBytes?: Readonly<Record<string, Bidirectional>>
}

/** Names in lower case; values of `-bin` names are bytes, others printable ASCII. */
export type Metadata = ReadonlyMap<string, string | Buffer>

/** The call of a client, with its address and metadata. */
export interface RpcCall extends Call {
  /** `host:port` of the client. */
  readonly peer: string
  /** Request metadata. A repeated name has its first value. */
  readonly metadata: Metadata
  /** The permissions of the client, if access is restricted. */
  readonly visitor?: Visitor | undefined
}

/** The call that a handler gets, with control over the response. */
export interface ServedCall extends RpcCall {
  /** Sets metadata to send before the first response. Throws when it was sent already, and for reserved gRPC names. */
  setHeaders(metadata: Metadata): void
  /** Adds fields to the log line of this call. */
  note(fields: LogFields): void
  /** Records what became of a request about an action. Absent if nobody reads records. */
  record?(outcome: ActionOutcome): void
  /** Sets metadata to send with the status. Throws for reserved gRPC names. */
  setTrailers(metadata: Metadata): void
  /**
   * Set to false for responses that cannot be compressed. If true, responses are still compressed only if the listener
   * is configured so and the client supports it.
   */
  compressesResponses: boolean
  /**
   * Await this before building a large response of known size. Resolves once the client has received enough of the
   * earlier responses. Rejects with CANCELLED when the call has ended, and with RESOURCE_EXHAUSTED when the process
   * holds too many responses.
   */
  reserveAnswer(sizeBytes: number): Promise<void>
  /** Whether a request message arrived compressed, if the transport reports it: grpc-js does not. */
  cameCompressed(request: object): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: messages of every type pass here; each service states its own.
type Message = any

/** Returns the response message, or its bytes (`EncodedMessage` of `proto/codec`). */
export type Unary<Q = Message, R = Message> = (request: Q, call: ServedCall) => Promise<R>

/**
 * The responses of a call, as a stream of messages. A sender with reused buffers instead lends one message after the
 * other, as the client has room for them.
 */
export interface Responses extends Writable {
  /** Resolves with the number of bytes to send now; rejects when the call has ended. One call at a time. */
  room(): Promise<number>
  /**
   * Sends a message whose bytes must not change until `sent` is called, exactly once: after sending or when the call
   * ended.
   */
  lend(message: object, sent: () => void): void
}

/** Resolves once all responses were written. The listener ends the stream and sends the status. */
export type ServerStreaming<Q = Message> = (request: Q, call: ServedCall, responses: Responses) => Promise<void>

/** A request message with lent bytes. They stay valid until `release`, which may be left to the collector. */
export interface LentMessage<Q = Message> {
  readonly message: Q
  release(): void
}

export interface RequestMessages<Q = Message> {
  /**
   * The next message; undefined once the client has half-closed. Rejects when a message cannot be decoded, and with a
   * StatusError when the call has ended. One call at a time.
   */
  next(): Promise<LentMessage<Q> | undefined>
}

/**
 * May resolve before the last of `requests`. Then the response is sent at once, and the listener discards the remaining
 * requests. Methods that stream much data use this form: the handler keeps a message as long as it needs it, and its
 * memory is then reused.
 */
export type ClientStreaming<Q = Message, R = Message> = (requests: RequestMessages<Q>, call: ServedCall) => Promise<R>

/** `requests` ends only when the client has half-closed. A cancelled call destroys it with a StatusError instead. */
export type Bidirectional = (requests: Readable, responses: Responses, call: ServedCall) => Promise<void>
