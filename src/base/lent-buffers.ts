import { onceReleased, ReusedBuffers } from './reused-buffers.js'

/** A reused buffer. Its owner releases it once, after the last read or write. */
export interface LentBuffer {
  readonly bytes: Buffer
  /** Only by the owner, once. A buffer that is never released is not reused and is left to the collector. */
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

const small = new ReusedBuffers(SMALL_BYTES, MAX_IDLE_BYTES)
const large = new ReusedBuffers(LARGE_BYTES, MAX_IDLE_BYTES)

/** A buffer of exactly this size, at most 256 KiB. */
export const lendBuffer = (sizeBytes: number): LentBuffer => {
  const pool = sizeBytes <= SMALL_BYTES ? small : large
  const whole = pool.take()
  return {
    bytes: sizeBytes === whole.length ? whole : whole.subarray(0, sizeBytes),
    release: onceReleased(() => pool.giveBack(whole)),
  }
}

/** The same loan of fewer bytes: its owner is the one of `lent`, and releases only one of them. */
export const shortened = ({ bytes, release }: LentBuffer, sizeBytes: number): LentBuffer => ({
  bytes: bytes.subarray(0, sizeBytes),
  release,
})
