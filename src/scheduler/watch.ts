import { whenAborted } from '../base/cancellation.js'
import type { StatusError } from '../base/status-error.js'
import { guardedTimeout } from '../base/timers.js'
import type { OperationState } from './request.js'

/** A state that is replaced within this time is not sent: watchers of a short action see only its end. */
const LASTS_MS = 20

/** One watcher of an operation. It keeps only the newest state, so a slow reader skips older ones. */
export class Watch {
  #latest: OperationState | undefined
  /** The newest state, until it has lasted for LASTS_MS. */
  #newest: OperationState | undefined
  #failure: StatusError | undefined
  #wake: () => void = () => {}
  #timer: NodeJS.Timeout | undefined

  /** `now`: undefined if nothing is known of the operation yet. */
  constructor(now: OperationState | undefined) {
    this.#latest = now
  }

  publish(state: OperationState): void {
    this.#newest = state
    if (state.outcome === undefined) this.#timer ??= guardedTimeout(() => this.#notify(), LASTS_MS)
    else this.#notify()
  }

  fail(error: StatusError): void {
    this.#failure = error
    this.#notify()
  }

  /** Yields states up to the one with an outcome. Ends early when `signal` aborts. */
  async *states(signal: AbortSignal): AsyncGenerator<OperationState> {
    const onAbort = (): void => this.#wake()
    whenAborted(signal, onAbort)
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
      clearTimeout(this.#timer)
    }
  }

  #notify(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#latest = this.#newest ?? this.#latest
    this.#newest = undefined
    this.#wake()
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.#latest !== undefined || this.#failure !== undefined || signal.aborted) resolve()
    })
  }
}

/** The watchers of each operation, by its name. */
export class Watches {
  readonly #byName = new Map<string, Set<Watch>>()

  add(name: string, watch: Watch): void {
    this.#byName.set(name, (this.#byName.get(name) ?? new Set()).add(watch))
  }

  remove(name: string, watch: Watch): void {
    const watches = this.#byName.get(name)
    watches?.delete(watch)
    if (watches?.size === 0) this.#byName.delete(name)
  }

  publish(state: OperationState): void {
    for (const watch of this.#byName.get(state.name) ?? []) watch.publish(state)
  }

  fail(error: StatusError): void {
    for (const watches of this.#byName.values()) for (const watch of watches) watch.fail(error)
  }
}
