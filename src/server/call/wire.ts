import type { X509Certificate } from 'node:crypto'
import type { StatusError } from '../../base/status-error.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Encoded } from '../../proto/codec.js'
import type { Metadata } from '../../rpc/rpc.js'

/** One RPC as a transport brings it: below the call that services see, and the same for every transport. */
export interface Wire {
  /** Who takes what comes: set before the first `read`, which may be answered at once. */
  receiver: Receiver | undefined
  /** Set before the first `read`: memory of messages is used again once they are released. */
  lends: boolean
  /** Of the request. Of several values the first. */
  readonly metadata: Metadata
  /** Whether the request has a header more than once. */
  repeats(name: string): boolean
  /** `host:port` of the client. */
  readonly peer: string
  /** Of the connection, checked by TLS. */
  readonly clientCertificate: X509Certificate | undefined
  /** Whether messages are compressed, where that can be. */
  compresses: boolean
  /** To be sent in front of the first message. Throws when one has been sent. */
  setHeaders(metadata: Metadata): void
  /** To be sent with the end. */
  setTrailers(metadata: Metadata): void
  /** What is held for the call is counted there; undefined where a transport counts nothing. */
  readonly held: HeldFor | undefined
  /** See `ServedCall.reserveAnswer`. */
  reserveAnswer(sizeBytes: number): Promise<void>
  /** Asks for one more message, which comes as a call of `Receiver.message` or, at the end, of `Receiver.halfClosed`. */
  read(): void
  /**
   * Sends a message, which stays as it is until `sent` is called: when it has left, or never will. Answers why it cannot
   * be sent.
   */
  send(message: Encoded, sent?: () => void): StatusError | undefined
  /** Calls back, perhaps at once, with how many bytes it is time to send; never when the call is over before. One at a time. */
  whenRoom(callback: (sizeBytes: number) => void): void
  /** Ends the call, behind what was sent. An error of code OK never comes here. */
  end(failure: StatusError | undefined): void
  /** The handler of the call has ended. */
  handled(): void
}

/** Who takes what a Wire brings. */
export interface Receiver {
  /** `release` says that nobody needs the bytes any more; needless unless the wire lends. */
  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void
  halfClosed(): void
  /** What came is no message that can be taken. */
  failed(error: StatusError): void
  /** The client no longer wants an answer; with `isLate` because the deadline has passed, which it has been told. */
  cancelled(isLate: boolean): void
}
