import type { ErrorCodeName } from './frame/frame.js'
import type { RequestHead } from './request-head.js'

/** Receives the events of a request. */
export interface Consumer {
  /**
   * Bytes of the body, only valid during the call. They count against the client's windows until `consumed` is called
   * for them.
   */
  data(bytes: Buffer): void
  /** The client has sent everything. */
  ended(): void
  /** Called about once a second while the stream is open. */
  sweep(nowMs: number): void
  /** The stream was reset or its connection closed before both sides had ended. Nothing sent on it arrives any more. */
  gone(): void
}

/** One request and its response, wherever its connection is. */
export interface RequestStream {
  readonly head: RequestHead
  readonly isRemoteEnded: boolean
  /** Whether something can still be sent. */
  readonly isWritable: boolean
  consumer: Consumer | undefined
  /** Whether the process has room to queue `sizeBytes` more for clients. */
  makeRoom(sizeBytes: number): boolean
  /** Sends the response head, a header block without a dynamic table. With `isEnd` that is the whole response. */
  respond(block: Buffer, isEnd: boolean): void
  /** Sends bytes of the response. They must not change until `written` is called, which always happens. */
  write(bytes: Buffer, written?: () => void): void
  /**
   * Calls back, possibly synchronously, with the number of bytes to write next: what the client accepts now, in
   * portions worth a read from disk. Not called once nothing can be sent any more.
   */
  whenRoom(callback: (sizeBytes: number) => void): void
  /** Sends the queued bytes, as far as windows allow. */
  flush(): void
  /** Ends the response after the queued bytes, with or without trailers. */
  end(trailers?: Buffer): void
  /** Ends the stream immediately in both directions. */
  reset(code: ErrorCodeName): void
  /** Bytes of `Consumer.data` are no longer held, so the client may send as many more. */
  consumed(sizeBytes: number): void
  /** The handler of the request has ended. */
  handled(): void
}
