/** Counts what one HTTP cache does. */
export interface CacheMeter {
  hit(sizeBytes: number): void
  miss(): void
  stored(sizeBytes: number): void
  /** An upload of a key that is there already, and stays. */
  kept(): void
  /** An upload that was not stored. */
  refused(): void
}

export type CacheMeters = (cache: { readonly path: string; readonly kind: string }) => CacheMeter

export const UNCOUNTED_CACHE: CacheMeter = {
  hit: () => {},
  miss: () => {},
  stored: () => {},
  kept: () => {},
  refused: () => {},
}
