/** Counts the calls of one method. */
export interface CallMeter {
  ended(code: number, ms: number): void
}

/** What counts the calls of a method, by its path. */
export type CallMeters = (path: string) => CallMeter

export const UNCOUNTED: CallMeter = { ended: () => {} }
