/** google.protobuf.Timestamp and Duration. */
export interface Time {
  readonly seconds: number
  readonly nanos: number
}

/** Milliseconds, with a fraction: since the epoch, or the length of a duration. */
export const toMs = ({ seconds, nanos }: Time): number => seconds * 1_000 + nanos / 1e6

/** From whole, non-negative milliseconds since the epoch. */
export const timestampOf = (ms: number): Time => ({
  seconds: Math.floor(ms / 1_000),
  nanos: Math.round(ms % 1_000) * 1e6,
})

/** From whole, non-negative milliseconds. */
export const durationOf: (ms: number) => Time = timestampOf
