import type { StatusError } from '../../base/status-error.js'
import type { OperationState } from '../request.js'

/** One reader of an operation's states. It keeps the newest only: what a slow reader missed was overtaken. */
export class Watch {
  #latest: OperationState | undefined
  #failure: StatusError | undefined
  #wake: () => void = () => {}

  constructor(now: OperationState) {
    this.#latest = now
  }

  publish(state: OperationState): void {
    this.#latest = state
    this.#wake()
  }

  fail(error: StatusError): void {
    this.#failure = error
    this.#wake()
  }

  /** States until one that has an outcome. Ends early when `signal` aborts. */
  async *states(signal: AbortSignal): AsyncGenerator<OperationState> {
    const onAbort = (): void => this.#wake()
    signal.addEventListener('abort', onAbort)
    try {
      while (!signal.aborted) {
        const state = this.#latest
        this.#latest = undefined
        if (state !== undefined) {
          yield state
          if (state.outcome !== undefined) return
        } else if (this.#failure !== undefined) throw this.#failure
        else await this.#news(signal)
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.#latest !== undefined || this.#failure !== undefined || signal.aborted) resolve()
    })
  }
}
