/** Memory that is used again and again: whoever has it gives it back, once, when nobody reads or writes it any more. */
export interface LentBuffer {
  readonly bytes: Buffer
  /** A second time does nothing. Never calling it costs the memory a second use, no more. */
  release(): void
}

/** A turn of the thread pool costs as much as reading 64 KiB: 256 KiB at a time cost half as much a byte (measured on tmpfs). */
export const LARGE_BYTES = 256 * 1024
export const SMALL_BYTES = 64 * 1024

/** What each size keeps for the next at most. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024

const idle = { small: [] as Buffer[], large: [] as Buffer[] }

/** A buffer of exactly so many bytes, at most 256 KiB. */
export const lendBuffer = (sizeBytes: number): LentBuffer =>
  sizeBytes <= SMALL_BYTES ? lendFrom(idle.small, SMALL_BYTES, sizeBytes) : lendFrom(idle.large, LARGE_BYTES, sizeBytes)

const lendFrom = (kept: Buffer[], wholeBytes: number, sizeBytes: number): LentBuffer => {
  const whole = kept.pop() ?? Buffer.allocUnsafeSlow(wholeBytes)
  let isLent = true
  return {
    bytes: sizeBytes === wholeBytes ? whole : whole.subarray(0, sizeBytes),
    release: () => {
      if (!isLent) return
      isLent = false
      if (kept.length < MAX_IDLE_BYTES / wholeBytes) kept.push(whole)
    },
  }
}
