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
  /** Buffers of uploads that are open, UPLOAD_BYTES each. */
  uploads: { maxBytes: 512 * MIB, rule: 'refuse' },
  /** Outcomes of finished operations, which clients may still ask for. */
  outcomes: { maxBytes: 128 * MIB, rule: 'drop_oldest' },
} as const satisfies Readonly<Record<string, KindFacts>>

export type KindName = keyof typeof KINDS

/** What an open upload holds: a part of a message, and a portion of the file that it fills. */
export const UPLOAD_BYTES = 512 * KIB

/** What a connection may hold of requests, and of answers, without a reservation. */
export const FREE_BYTES = 16 * KIB
