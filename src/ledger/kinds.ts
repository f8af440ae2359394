const KIB = 1024
const MIB = 1024 * KIB

/** What happens beyond a bound: reservations are rejected, wait for room, or the oldest bytes are dropped. */
export type Rule = 'refuse' | 'wait' | 'drop_oldest'

export interface KindFacts {
  /** Bound of the process. A connection may use half of it, an address three quarters, an instance half, an attempt a sixteenth. */
  readonly maxBytes: number
  readonly rule: Rule
}

/** All memory that the process holds for clients. docs/operation.md gives the sum of the bounds. */
export const KINDS = {
  /**
   * Open requests with their metadata, and their messages from the first byte until the handler has finished. A small blob counts
   * twice while a service thread sends a copy of it to the owner, and a list of chunks ten times (SpliceBlob).
   */
  requests: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Compressed messages, reserved before they are decompressed. */
  unpacked: { maxBytes: 128 * MIB, rule: 'wait' },
  /** Responses until the client has received them; responses to batches are reserved before they are built. */
  answers: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Open uploads: UPLOAD_BYTES each, and up to STREAMED_UPLOAD_BYTES more for a blob of several messages. */
  uploads: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Compressors and decompressors of calls, with their windows and tables (`stream/compression/compression.ts`). */
  windows: { maxBytes: 256 * MIB, rule: 'wait' },
  /** Directory trees that are being read. */
  trees: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Interrupted uploads that may be resumed: the received bytes of each, most of them on disk, and PARKED_BYTES. */
  parked: { maxBytes: 1024 * MIB, rule: 'drop_oldest' },
  /**
   * Unfinished operations with what their actions ask for (`scheduler/request-size.ts`): in a queue, and at the server that waits for
   * its clients; and each that a server with the queue watches for another.
   */
  operations: { maxBytes: 768 * MIB, rule: 'refuse' },
  /** Outcomes of finished operations, which clients may still request. */
  outcomes: { maxBytes: 128 * MIB, rule: 'drop_oldest' },
  /** Open streams of build events: EVENT_STREAM_BYTES each. */
  event_streams: { maxBytes: 64 * MIB, rule: 'refuse' },
  /** Build events until they are on disk. */
  events: { maxBytes: 256 * MIB, rule: 'wait' },
  /** Small output files from hashing to upload, in the process of a worker. Beyond the bound they are read again. */
  outputs: { maxBytes: 128 * MIB, rule: 'refuse' },
  /** Requests to persistent workers and their answers, in the process of a worker. Beyond the bound the command runs without one. */
  tool_messages: { maxBytes: 256 * MIB, rule: 'refuse' },
  /**
   * Inputs of actions on their way from another server: small files in the process of a worker, and pages of input trees where
   * the store of that server is.
   */
  inputs: { maxBytes: 256 * MIB, rule: 'wait' },
} as const satisfies Readonly<Record<string, KindFacts>>

export type KindName = keyof typeof KINDS

/** Memory of a streaming request besides its messages. */
export const UPLOAD_BYTES = 32 * KIB
/** Memory of an upload of several messages besides them: a part of the file being written, and the stages before it. */
export const STREAMED_UPLOAD_BYTES = 480 * KIB

/** Cost of an interrupted upload besides its bytes: it keeps a descriptor, buffers and hash state. */
export const PARKED_BYTES = 8 * MIB

/** An open stream of build events besides its messages: a thousand streams may be open. */
export const EVENT_STREAM_BYTES = 64 * KIB

/** Requests, and responses, that a connection may hold without a reservation. */
export const FREE_BYTES = 16 * KIB
