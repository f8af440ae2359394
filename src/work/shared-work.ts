import { cancellation, whenAborted } from '../base/cancellation.js'

interface Shared<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
  callers: number
}

/** Shares one run of a piece of work among all concurrent callers with the same key. It is aborted when the last has left. */
export class SharedWork<T> {
  readonly #shared = new Map<string, Shared<T>>()

  /** Rejects with CANCELLED when the signal of this caller aborts. */
  run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(cancellation(signal))
    const shared = this.#shared.get(key) ?? this.#begin(key, work)
    shared.callers += 1
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', leave)
        reject(cancellation(signal))
        this.#left(key, shared)
      }
      whenAborted(signal, leave)
      const settled = (): void => signal.removeEventListener('abort', leave)
      shared.result.finally(settled).then(resolve, reject)
    })
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> {
    const abort = new AbortController()
    const result = work(abort.signal).finally(() => {
      if (this.#shared.get(key) === shared) this.#shared.delete(key)
    })
    const shared: Shared<T> = { abort, callers: 0, result }
    this.#shared.set(key, shared)
    return shared
  }

  #left(key: string, shared: Shared<T>): void {
    shared.callers -= 1
    if (shared.callers > 0) return
    // A caller who comes now begins anew.
    if (this.#shared.get(key) === shared) this.#shared.delete(key)
    shared.abort.abort()
  }
}
