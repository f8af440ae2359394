import type { StatusError } from '../../base/status-error.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Caller } from '../../rpc/gate.js'
import type { BlobFeed } from '../../stream/blob/feed.js'
import type { CheckedAnswer } from './head.js'

/** One request and its answer on a connection, whatever the version of HTTP. */
export interface Exchange {
  readonly method: string
  /** The raw request target, including the query. */
  readonly target: string
  readonly caller: Caller
  /** Names in lower case. A repeated name has its first value. */
  readonly headers: ReadonlyMap<string, string>
  /** Undefined for a transport whose buffers cannot be accounted for. */
  readonly held: HeldFor | undefined
  /** Length of the request's body; undefined if the client did not say it, 0 without a body. */
  readonly bodyBytes: number | undefined
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** The reason of `signal` without making one. */
  whyCancelled(): StatusError | undefined
  /** The whole body, if it is short and has come already. Its owner is the caller. Call it before `body`, or not at all. */
  bodyAtHand(): Buffer | undefined
  /** The bytes of the request, read when they are taken. Call it once. */
  body(): BlobFeed
  /**
   * Sends the answer and resolves with the number of bytes sent of its body. Rejects if it was not sent whole; the connection
   * or its stream has then ended.
   */
  send(answer: CheckedAnswer): Promise<number>
}
