/** Counts the calls of one method. */
export interface CallMeter {
  /**
   * `sinceMs`: the start of the call, from `performance.now`. `instanceName`: what the call was for; empty if it names no
   * instance.
   */
  ended(code: number, sinceMs: number, instanceName: string): void
}

/** Returns the meter of a method by its path. */
export type CallMeters = (path: string) => CallMeter

export const UNCOUNTED: CallMeter = { ended: () => {} }
