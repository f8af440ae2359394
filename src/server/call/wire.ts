import type { X509Certificate } from 'node:crypto'
import type { StatusError } from '../../base/status-error.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Encoded } from '../../proto/codec.js'
import type { Metadata } from '../../rpc/rpc.js'

/** One RPC at the level of a transport, below the call that services see. All transports implement it. */
export interface Wire {
  /** Receives the events of the call. Set it before the first `read`, which may be answered synchronously. */
  receiver: Receiver | undefined
  /** If true, the memory of messages is reused once they are released. Set it before the first `read`. */
  lends: boolean
  /** Of the request. Of repeated headers, the first value. */
  readonly metadata: Metadata
  /** One header as it came: the value of a `-bin` name may still be base64. For headers that each call needs. */
  header(name: string): string | Buffer | undefined
  /** Whether the request has this header more than once. */
  repeats(name: string): boolean
  /** `host:port` of the client. */
  readonly peer: string
  /** Certificate of the connection, verified by TLS. */
  readonly clientCertificate: X509Certificate | undefined
  /** Whether messages are compressed, if the transport and the client can. */
  compresses: boolean
  /** Sent before the first message. Throws after one was sent. */
  setHeaders(metadata: Metadata): void
  /** Sent at the end of the call. */
  setTrailers(metadata: Metadata): void
  /** Accounts for memory held for the call; undefined if the transport has no accounting. */
  readonly held: HeldFor | undefined
  /** See `ServedCall.reserveAnswer`. */
  reserveAnswer(sizeBytes: number): Promise<void>
  /** Asks for one more message. The receiver then gets `message`, or `halfClosed` at the end. */
  read(): void
  /**
   * Sends a message. It must not change until `sent` is called, which happens when it has left or will never leave.
   * Returns an error if it cannot be sent.
   */
  send(message: Encoded, sent?: () => void): StatusError | undefined
  /**
   * Calls back, possibly synchronously, with the number of bytes to send next. Not called if the call ends before. Only
   * one callback at a time.
   */
  whenRoom(callback: (sizeBytes: number) => void): void
  /** Ends the call after all sent messages. `failure` never has code OK. */
  end(failure: StatusError | undefined): void
  /** Called when the handler of the call has ended. */
  handled(): void
}

/** Receives the events of a Wire. */
export interface Receiver {
  /** `release` returns the memory of `bytes`; only needed if the wire lends. */
  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void
  halfClosed(): void
  /**
   * The request cannot be received, because of the client. `isOurs`: the server failed to unpack it for a reason of its
   * own.
   */
  failed(error: StatusError, isOurs: boolean): void
  /** The client no longer waits for an answer. `isLate`: the deadline has passed, and the client was informed. */
  cancelled(isLate: boolean): void
}
