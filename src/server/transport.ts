import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { Calls } from './call/calls.js'
import type { Encoding } from './grpc/encoding.js'
import type { HttpPages } from './http.js'

/** How single messages are compressed, apart from the compressed blobs of REAPI. */
export interface MessageCompression {
  /** Compresses responses for clients that say they understand it. */
  readonly sendsGzip: boolean
  /** What requests may be compressed with. */
  readonly accepted: readonly Encoding[]
}

/** What every transport is given. */
export interface TransportParts {
  readonly calls: Calls
  /** Takes connections that speak HTTP/1. It does not listen itself. */
  readonly http: HttpServer
  /** What HTTP/1 answers, for requests of HTTP/2 that are no gRPC. */
  readonly pages: HttpPages
  /** The largest request message. */
  readonly maxMessageBytes: number
  /** How long a new connection may take to show what it speaks. */
  readonly firstBytesMs: number
  /** How long a client may go on sending once its call was answered. */
  readonly readOffMs: number
  readonly compression: MessageCompression
  /** Counts what connections hold. */
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
}

/** Serves gRPC on connections that are handed to it. */
export interface Transport {
  /** Takes a connection of which nothing has been read; where it is paused, it stays so until it is read. `closed` is called at its end. */
  accept(socket: Socket, closed: () => void): void
  /** Tells every client to go elsewhere; calls under way go on. `graceMs` is when the last of them ends at the latest. */
  drain(graceMs: number): void
  /** Resolves once all connections have ended; those of idle clients do so after `drain`. */
  idle(): Promise<void>
  /** Ends every connection at once. */
  destroy(): void
}
