const KIB = 1024
const MIB = 1024 * KIB

/** What a kind does with bytes beyond a bound: refuses them, lets them wait for room, or drops what it has held longest. */
export type Rule = 'refuse' | 'wait' | 'drop_oldest'

export interface KindFacts {
  /** Of the process. A connection may hold half of it, an address three quarters, an instance half. */
  readonly maxBytes: number
  readonly rule: Rule
}

/** Everything that the process holds for clients: the sum of the bounds is in docs/operation.md. */
export const KINDS = {
  /** Open requests with their fields, and their messages from the first byte until the handler is done with them. */
  requests: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Messages that came compressed, from before they are unpacked. */
  unpacked: { maxBytes: 128 * MIB, rule: 'wait' },
  /** Answers until their client has taken them; those of batches from before they are made. */
  answers: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Open uploads: UPLOAD_BYTES each, and up to STREAMED_UPLOAD_BYTES more where the blob is not one message. */
  uploads: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Windows and tables of the compressors and decompressors of calls: WINDOW_BYTES each. */
  windows: { maxBytes: 256 * MIB, rule: 'wait' },
  /** Directory trees that are being walked. */
  trees: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Broken uploads that may be resumed: what was received of each, most of it on disk, and PARKED_BYTES. */
  parked: { maxBytes: 1024 * MIB, rule: 'drop_oldest' },
  /** Outcomes of finished operations, which clients may still ask for. */
  outcomes: { maxBytes: 128 * MIB, rule: 'drop_oldest' },
} as const satisfies Readonly<Record<string, KindFacts>>

export type KindName = keyof typeof KINDS

/** What a call that streams its request holds beside its messages. */
export const UPLOAD_BYTES = 32 * KIB
/** What an upload of several messages holds beside them: a portion of the file that it fills, and the stages before that. */
export const STREAMED_UPLOAD_BYTES = 480 * KIB

/** What a decompressor may take: zstd and Brotli keep a window, of which zstd is let have 8 MiB. Compressors take less. */
export const WINDOW_BYTES = 9 * MIB
export const COMPRESSOR_BYTES = 2 * MIB

/** What a broken upload counts as beside its bytes: it keeps a descriptor, buffers and the state of its hash. */
export const PARKED_BYTES = 8 * MIB

/** What a connection may hold of requests, and of answers, without a reservation. */
export const FREE_BYTES = 16 * KIB
