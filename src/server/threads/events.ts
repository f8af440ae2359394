import type { RequestHead } from '../http2/request-head.js'
import type { RequestStream } from '../http2/request-stream.js'

// The part of the channel between a service thread and the owner of the process that is about connections, by their numbers, and about
// requests, by numbers that the thread gives them.

/** What a thread tells the owner. */
export interface ConnectionsToOwner {
  /** The socket has closed. */
  closed(connection: number): void
  /** A request for the owner. */
  request(
    request: number,
    connection: number,
    head: RequestHead,
    isRemoteEnded: boolean,
    certificate: Uint8Array | undefined,
  ): void
  data(request: number, bytes: Uint8Array): void
  ended(request: number): void
  gone(request: number): void
  /** A write has left, or never will. */
  written(request: number): void
  /** The oldest write of those that were not taken is in the memory of the thread, and counted there. */
  taken(request: number): void
  room(request: number, sizeBytes: number): void
}

/** What the owner does to connections of a thread, and to the requests that the thread carries to it. */
export interface CarriedToThread {
  drain(connection: number): void
  destroy(connection: number): void
  respond(request: number, block: Uint8Array, isEnd: boolean): void
  write(request: number, bytes: Uint8Array): void
  flush(request: number): void
  end(request: number, trailers: Uint8Array | undefined): void
  reset(request: number, code: Parameters<RequestStream['reset']>[0]): void
  consumed(request: number, sizeBytes: number): void
  handled(request: number): void
  /** Answered by `room`, unless nothing can be sent any more. */
  wantsRoom(request: number): void
}
