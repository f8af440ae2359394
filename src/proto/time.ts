/** google.protobuf.Timestamp or Duration in decoded form. */
export interface Time {
  readonly seconds: number
  readonly nanos: number
}

/** A Timestamp (since the epoch) or Duration in milliseconds, with a fraction. */
export const toMs = (time: Time): number => time.seconds * 1000 + time.nanos / 1e6

/** Converts milliseconds since the epoch. `nanos` is never negative, as the message requires. */
export const timestampOf = (ms: number): Time => {
  const seconds = Math.floor(ms / 1000)
  return normal(seconds, Math.round((ms - seconds * 1000) * 1e6))
}

/** Converts milliseconds to a Duration. `nanos` has the sign of `seconds`, as the message requires. */
export const durationOf = (ms: number): Time => {
  const { seconds, nanos } = timestampOf(Math.abs(ms))
  return ms < 0 ? { seconds: 0 - seconds, nanos: 0 - nanos } : { seconds, nanos }
}

const normal = (seconds: number, nanos: number): Time =>
  nanos === 1e9 ? { seconds: seconds + 1, nanos: 0 } : { seconds, nanos }
