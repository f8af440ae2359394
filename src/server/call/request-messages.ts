import type { LentMessage, RequestMessages } from '../../rpc/rpc.js'
import type { Receiver } from './wire.js'

/** How long a half-closed request is not believed. Measured: a reset by a Node client on the same machine comes within two turns. */
export const TURNS_BEFORE_END = 4

export interface RequestMessagesParts {
  decode(bytes: Buffer, cameCompressed: boolean): unknown
  /** Asks for one more message, which comes as a call of `message` or of `halfClosed`. */
  askForOne(): void
}

/** The request messages of a call for who takes them one by one: none is asked for before the one ahead was taken. */
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
   * Node's own clients half-close for real before they reset, in two writes, so a few turns of the loop pass before the
   * end is believed. Still: an upload is complete by its size and digest, not by its end.
   */
  halfClosed(turns = TURNS_BEFORE_END): void {
    setImmediate(() => {
      if (turns > 1) {
        this.halfClosed(turns - 1)
        return
      }
      this.#isEnded = true
      this.#waiting?.resolve(undefined)
    })
  }

  /** The call is over: whoever waits, and whoever asks from now on, is told why. */
  destroy(reason: Error): void {
    this.#failure ??= reason
    this.#waiting?.reject(this.#failure)
  }
}
