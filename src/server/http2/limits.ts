/** What one connection may cost. Every one of these has a test that shows a client who goes beyond it. */
export interface ConnectionLimits {
  /** Requests at a time, those included whose stream is closed and whose handler has not ended. */
  readonly maxConcurrentStreams: number
  /** What a client may send on a stream before its handler reads (RFC 9113, 6.9.2). */
  readonly streamWindowBytes: number
  /** The same for all streams of a connection together, which is what it can hold of unread requests. */
  readonly connectionWindowBytes: number
  /** Of the fields of one request, as RFC 9113, 6.5.2, counts them. */
  readonly maxHeaderListBytes: number
  /** Bytes that wait for the socket before no more DATA is made; what a client that reads slowly holds. */
  readonly outputBytes: number
  /** Bytes that wait for the socket before nothing more is read: answers to what needs no window. */
  readonly maxOutputBytes: number
  /** Frames that carry nothing and the streams that a client gives up: how many at once, and how many a second. */
  readonly idleFrames: Rate
  readonly resets: Rate
  /** From the beginning of the connection to the client's settings. */
  readonly greetingMs: number
  /** From our settings to their acknowledgement. */
  readonly settingsAckMs: number
  /** From the first frame of a header block to its last. */
  readonly headerBlockMs: number
  /** How long nothing may come before the client is asked for a sign of life, and how long that may take. */
  readonly keepAliveMs: number
  readonly keepAliveTimeoutMs: number
  /** How long a client may go on sending once its request was answered. */
  readonly readOffMs: number
  /** How long a client may take none of the bytes that wait for it. */
  readonly stallMs: number
}

export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  maxConcurrentStreams: 1024,
  // Measured with uploads over loopback: 256 KiB is 15-30 % faster than the protocol's 64 KiB, 1 MiB no faster than that.
  streamWindowBytes: 256 * 1024,
  connectionWindowBytes: 4 * 1024 * 1024,
  maxHeaderListBytes: 32 * 1024,
  outputBytes: 64 * 1024,
  maxOutputBytes: 256 * 1024,
  idleFrames: { burst: 10_000, perSecond: 1000 },
  resets: { burst: 2000, perSecond: 200 },
  greetingMs: 10_000,
  settingsAckMs: 10_000,
  headerBlockMs: 10_000,
  keepAliveMs: 60_000,
  keepAliveTimeoutMs: 20_000,
  readOffMs: 10_000,
  stallMs: 120_000,
}
