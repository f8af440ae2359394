import { guardedImmediate } from '../../base/timers.js'
import type { LentMessage, RequestMessages } from '../../rpc/rpc.js'
import type { Receiver } from './wire.js'

/**
 * Number of event loop turns before a half-close counts as the end of the request. Measured: a reset by a Node client
 * on the same machine arrives within two turns.
 */
export const TURNS_BEFORE_END = 4

export interface RequestMessagesParts {
  decode(bytes: Buffer, cameCompressed: boolean): unknown
  /** Asks for one more message. The transport then calls `message` or `halfClosed`. */
  askForOne(): void
}

/** The request messages of a call, pulled one by one: each is requested only after the one before was taken. */
export class PulledMessages implements RequestMessages, Pick<Receiver, 'message' | 'halfClosed'> {
  readonly #parts: RequestMessagesParts
  #isEnded = false
  #failure: Error | undefined
  #waiting: { resolve(next: LentMessage | undefined): void; reject(error: Error): void } | undefined

  constructor(parts: RequestMessagesParts) {
    this.#parts = parts
  }

  next(): Promise<LentMessage | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isEnded) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#parts.askForOne()
    })
  }

  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    try {
      waiting?.resolve({ message: this.#parts.decode(bytes, cameCompressed), release })
    } catch (error) {
      waiting?.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /**
   * Waits some turns before the end counts, because Node's own clients half-close before they reset, in two writes.
   * Even so, an upload is complete by its size and digest, not by its end.
   */
  halfClosed(turns = TURNS_BEFORE_END): void {
    guardedImmediate(() => {
      if (turns > 1) {
        this.halfClosed(turns - 1)
        return
      }
      this.#isEnded = true
      this.#waiting?.resolve(undefined)
    })
  }

  /** Ends the call: pending and later `next` calls reject with `reason`. */
  destroy(reason: Error): void {
    this.#failure ??= reason
    this.#waiting?.reject(this.#failure)
  }
}
