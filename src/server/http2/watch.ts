import { ConnectionError } from './frame/frame.js'
import type { ConnectionLimits } from './limits.js'

/** The present state of a connection. */
export interface Seen {
  readonly isBlockOpen: boolean
  /** Changes whenever the client takes something. */
  readonly moved: number
  /** Whether something waits for the client. */
  readonly isHeldUp: boolean
}

/**
 * Checks how long a connection has been waiting for its client: for settings and their acknowledgement (RFC 9113, 3.4
 * and 6.5.3), a complete header block (4.3), the answer to a PING (6.7), and room to send (5.2). Checked periodically.
 */
export class Watch {
  hasRead = false
  hasSettings = false
  isAcknowledged = false
  readonly #limits: ConnectionLimits
  readonly #begunMs: number
  #readMs: number
  #pingedMs: number | undefined
  #blockOpenMs: number | undefined
  #movedMs: number
  #moved = 0

  constructor(limits: ConnectionLimits, nowMs: number) {
    this.#limits = limits
    this.#begunMs = nowMs
    this.#readMs = nowMs
    this.#movedMs = nowMs
  }

  /** The required action: send a ping, or end the connection. */
  look(nowMs: number, seen: Seen): 'ping' | ConnectionError | undefined {
    const { greetingMs, settingsAckMs, headerBlockMs, stallMs } = this.#limits
    const ageMs = nowMs - this.#begunMs
    if (!this.hasSettings && ageMs >= greetingMs)
      return new ConnectionError('SETTINGS_TIMEOUT', 'no SETTINGS frame was received')
    if (!this.isAcknowledged && ageMs >= settingsAckMs) {
      return new ConnectionError('SETTINGS_TIMEOUT', 'the settings were not acknowledged')
    }
    this.#blockOpenMs = seen.isBlockOpen ? (this.#blockOpenMs ?? nowMs) : undefined
    if (this.#blockOpenMs !== undefined && nowMs - this.#blockOpenMs >= headerBlockMs) {
      return new ConnectionError('ENHANCE_YOUR_CALM', 'a header block does not end')
    }
    if (!seen.isHeldUp || seen.moved !== this.#moved) this.#movedMs = nowMs
    this.#moved = seen.moved
    if (nowMs - this.#movedMs >= stallMs) return new ConnectionError('ENHANCE_YOUR_CALM', 'the client does not read')
    return this.#alive(nowMs)
  }

  #alive(nowMs: number): 'ping' | ConnectionError | undefined {
    const { keepAliveMs, keepAliveTimeoutMs } = this.#limits
    if (this.hasRead) {
      this.hasRead = false
      this.#readMs = nowMs
      this.#pingedMs = undefined
    }
    if (this.#pingedMs !== undefined) {
      const isLost = nowMs - this.#pingedMs >= keepAliveTimeoutMs
      return isLost ? new ConnectionError('NO_ERROR', 'the client did not answer a PING') : undefined
    }
    if (nowMs - this.#readMs < keepAliveMs) return undefined
    this.#pingedMs = nowMs
    return 'ping'
  }
}
