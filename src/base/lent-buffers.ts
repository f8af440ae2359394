/** A reused buffer. Its owner releases it once, after the last read or write. */
export interface LentBuffer {
  readonly bytes: Buffer
  /** Idempotent. A buffer that is never released is not reused and is left to the collector. */
  release(): void
}

/**
 * A task of the thread pool costs as much as reading 64 KiB. Reading 256 KiB at a time halved the cost per byte
 * (tmpfs).
 */
export const LARGE_BYTES = 256 * 1024
export const SMALL_BYTES = 64 * 1024

/** Bound on the idle buffers of each size. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024

const idle = { small: [] as Buffer[], large: [] as Buffer[] }

/** A buffer of exactly this size, at most 256 KiB. */
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
