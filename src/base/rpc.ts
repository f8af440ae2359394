import type { Readable, Writable } from 'node:stream'
import type { Call } from './call.js'

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
  readonly unary?: Readonly<Record<string, Unary>>
  /** Methods whose messages are large enough to be read and written by hand: both as they are on the wire. */
  readonly unaryBytes?: Readonly<Record<string, Unary<Buffer, Buffer>>>
  readonly serverStreaming?: Readonly<Record<string, ServerStreaming>>
  readonly clientStreaming?: Readonly<Record<string, ClientStreaming>>
  readonly bidirectional?: Readonly<Record<string, Bidirectional>>
}

/** What the listener adds to a Call: the peer and the request's metadata, lower-case names. */
export interface RpcCall extends Call {
  readonly peer: string
  readonly metadata: ReadonlyMap<string, string | Buffer>
}

// biome-ignore lint/suspicious/noExplicitAny: messages of every type pass here; each service states its own.
type Message = any

/** Answers with the response message, or with the bytes of one (`EncodedMessage` of `proto/codec`). */
export type Unary<Q = Message, R = Message> = (request: Q, call: RpcCall) => Promise<R>

/** Resolves once everything was written to `responses`; the listener ends the stream and sends the status. */
export type ServerStreaming<Q = Message> = (request: Q, call: RpcCall, responses: Writable) => Promise<void>

/**
 * May resolve before `requests` ended: the answer goes out at once and the listener reads off the rest. `requests` ends
 * only when the client half-closed: an aborted upload destroys it with a CANCELLED StatusError instead.
 */
export type ClientStreaming<R = Message> = (requests: Readable, call: RpcCall) => Promise<R>

export type Bidirectional = (requests: Readable, responses: Writable, call: RpcCall) => Promise<void>
