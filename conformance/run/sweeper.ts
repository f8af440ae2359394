/** What buffers may take beside those that are in use. */
const SLACK_BYTES = 8 << 20

/**
 * Has the buffers collected that ended checks have left behind, once there are as many: V8 waits for several times as much. Does
 * nothing in a process that does not expose `gc`.
 */
export const sweeper = (): (() => void) => {
  let usedBytes = process.memoryUsage().arrayBuffers
  return () => {
    if (process.memoryUsage().arrayBuffers - usedBytes < SLACK_BYTES) return
    globalThis.gc?.()
    usedBytes = process.memoryUsage().arrayBuffers
  }
}
