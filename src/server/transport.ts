import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { Calls } from './call/calls.js'
import type { Encoding } from './grpc/encoding.js'
import type { Http1 } from './http/http1.js'
import type { HttpRequests } from './http/requests.js'

/** Compression of gRPC messages, not of REAPI's compressed blobs. */
export interface MessageCompression {
  /** Compresses responses for clients that accept it. */
  readonly sendsGzip: boolean
  /** Accepted compressions of requests. */
  readonly accepted: readonly Encoding[]
}

/** The parameters of every transport. */
export interface TransportParts {
  readonly calls: Calls
  /** Takes connections that use HTTP/1. Absent in a service thread, which gets none. */
  readonly http1: Http1 | undefined
  /** Answers requests that are not gRPC, over all versions of HTTP. */
  readonly requests: HttpRequests
  /** Maximum size of a request message. */
  readonly maxMessageBytes: number
  /** How long a new connection may take to send its first bytes. */
  readonly firstBytesMs: number
  /** How long a client may continue to send after its call was answered. */
  readonly readOffMs: number
  readonly compression: MessageCompression
  /** Accounts for memory held for connections. */
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
}

/** Serves gRPC on connections that are passed to it. */
export interface Transport {
  /** Takes over a connection from which nothing has been read; it may be paused. Calls `closed` when it has closed. */
  accept(socket: Socket, closed: () => void): void
  /** Asks every client to go elsewhere; calls in progress continue. The last of them ends within `graceMs`. */
  drain(graceMs: number): void
  /** Resolves once all connections have closed. Idle clients close theirs after `drain`. */
  idle(): Promise<void>
  /** Closes all connections immediately. */
  destroy(): void
}
