/** Counts the requests of one route. */
export interface HttpMeter {
  /** `sinceMs`: the start of the request, from `performance.now`. */
  ended(method: string, status: number, sinceMs: number): void
}

/** Returns the meter of a route by its path. */
export type HttpMeters = (route: string) => HttpMeter

export const UNCOUNTED_HTTP: HttpMeter = { ended: () => {} }
