import type { Rate } from '../../work/rate-limiter.js'

/** Bounds on the cost of one connection. Each has a test with a client that exceeds it. */
export interface ConnectionLimits {
  /** Concurrent requests, including closed streams whose handler has not ended. */
  readonly maxConcurrentStreams: number
  /** Bytes that a client may send on a stream before its handler reads (RFC 9113, 6.9.2). */
  readonly streamWindowBytes: number
  /** The same for all streams of a connection: the bound on its unread request bytes. */
  readonly connectionWindowBytes: number
  /** Size of the fields of one request, as defined by RFC 9113, 6.5.2. */
  readonly maxHeaderListBytes: number
  /** Bytes queued for the socket above which no further DATA is written. Bounds the memory for a slow reader. */
  readonly outputBytes: number
  /** Bytes queued for the socket above which nothing more is read: answers that need no window. */
  readonly maxOutputBytes: number
  /** Frames without content, and streams reset by the client: burst, and number per second. */
  readonly idleFrames: Rate
  readonly resets: Rate
  /** From the start of the connection to the client's settings. */
  readonly greetingMs: number
  /** From our settings to their acknowledgement. */
  readonly settingsAckMs: number
  /** From the first frame of a header block to its last. */
  readonly headerBlockMs: number
  /** Silence after which the client is pinged, and the time for its answer. */
  readonly keepAliveMs: number
  readonly keepAliveTimeoutMs: number
  /** How long a client may continue to send after its request was answered. */
  readonly readOffMs: number
  /** How long a client may read nothing while bytes wait for it. */
  readonly stallMs: number
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  maxConcurrentStreams: 1024,
  // Measured with uploads over loopback: 256 KiB is 15-30 % faster than the protocol's 64 KiB; 1 MiB is no faster.
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
