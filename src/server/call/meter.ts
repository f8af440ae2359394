/** Counts the calls of one method. */
export interface CallMeter {
  /** `sinceMs` is when it began, on the clock of the turns of the event loop. */
  ended(code: number, sinceMs: number): void
}

/** What counts the calls of a method, by its path. */
export type CallMeters = (path: string) => CallMeter

export const UNCOUNTED: CallMeter = { ended: () => {} }
