/** Buffer memory allowed besides the buffers in use. */
const SLACK_BYTES = 8 << 20

/**
 * Collects the buffers of ended checks once they exceed a bound, because V8 waits for several times as much. Does
 * nothing in a process without `gc`.
 */
export const sweeper = (): (() => void) => {
  let usedBytes = process.memoryUsage().arrayBuffers
  return () => {
    if (process.memoryUsage().arrayBuffers - usedBytes < SLACK_BYTES) return
    globalThis.gc?.()
    usedBytes = process.memoryUsage().arrayBuffers
  }
}
