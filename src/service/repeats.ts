import type { Writable } from 'node:stream'
import type { Clock } from '../base/clock.js'

/**
 * Proxies cut streams that are silent for a minute (AWS ALB) to five (Envoy), and PING frames of HTTP/2 do not count for a stream.
 * REAPI lets a server send an operation at any time, and clients take a repeated one as what they know already.
 */
export const REPEAT_MS = 30_000
const TICK_MS = 1000

interface Silent {
  readonly responses: Writable
  readonly message: object
  dueMs: number
}

/** Sends the last message of a stream again when it was silent for `REPEAT_MS`. One timer for all streams, and none while there are none. */
export class Repeats {
  readonly #clock: Clock
  /** In the order of their due times, because all wait equally long. */
  readonly #silent = new Set<Silent>()
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From now on the stream is silent: `message` was the last. The returned function ends that, before anything else is sent. */
  add(responses: Writable, message: object): () => void {
    const silent = { responses, message, dueMs: this.#clock.now() + REPEAT_MS }
    this.#silent.add(silent)
    this.#stop ??= this.#clock.every(TICK_MS, () => this.#tick())
    return () => {
      this.#silent.delete(silent)
    }
  }

  #tick(): void {
    const nowMs = this.#clock.now()
    for (const silent of this.#silent) {
      if (silent.dueMs > nowMs) break
      this.#silent.delete(silent)
      const { responses, message } = silent
      if (responses.destroyed) continue
      // A client that does not read has bytes to read.
      if (!responses.writableNeedDrain) responses.write(message)
      silent.dueMs = nowMs + REPEAT_MS
      this.#silent.add(silent)
    }
    if (this.#silent.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }
}
