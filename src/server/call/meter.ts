/** Counts the calls of one method. */
export interface CallMeter {
  /** `sinceMs`: the start of the call, on the turn clock of the event loop. */
  ended(code: number, sinceMs: number): void
}

/** Returns the meter of a method by its path. */
export type CallMeters = (path: string) => CallMeter

export const UNCOUNTED: CallMeter = { ended: () => {} }
