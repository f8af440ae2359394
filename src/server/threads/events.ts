/**
 * What a service thread tells the owner of the process about its connections. Ids are those of connections
 * (`CLOSED`, `HTTP1...`) or of requests. The values of each kind follow its name.
 */
export const ToOwner = {
  /** The socket has closed. */
  CLOSED: 0,
  /** A request for the owner. Connection, head, isRemoteEnded, certificate. */
  REQUEST: 1,
  /** Bytes. */
  DATA: 2,
  ENDED: 3,
  GONE: 4,
  /** A write has left, or never will. */
  WRITTEN: 5,
  /** The oldest write of those that were not taken is in the memory of the thread, and counted there. */
  TAKEN: 6,
  /** Number of bytes to write. */
  ROOM: 7,
  /** The connection speaks HTTP/1. Certificate. */
  HTTP1: 8,
  HTTP1_DATA: 9,
  HTTP1_WRITTEN: 10,
} as const

/** What the owner tells a service thread. */
export const ToThread = {
  /** A connection: listener, descriptor, row of its address in the ledger, isUnix, and the bytes that were read from it. */
  SOCKET: 0,
  DRAIN: 1,
  DESTROY: 2,
  /** Block, isEnd. */
  RESPOND: 3,
  WRITE: 4,
  FLUSH: 5,
  /** Trailers, if there are any. */
  END: 6,
  /** Code. */
  RESET: 7,
  CONSUMED: 8,
  HANDLED: 9,
  WANTS_ROOM: 10,
  HTTP1_WRITE: 11,
  HTTP1_PAUSE: 12,
  HTTP1_RESUME: 13,
  HTTP1_END: 14,
  /** Number of bytes that the owner has taken. */
  HTTP1_TAKEN: 15,
} as const
