import { guardedTimeout } from '../base/timers.js'

/** Runs something a moment after it is asked for, once for all who ask in the meantime. */
export class Soon {
  readonly #run: () => void
  readonly #withinMs: number
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(run: () => void, withinMs: number) {
    this.#run = run
    this.#withinMs = withinMs
  }

  ask(): void {
    if (this.#isClosed) return
    this.#timer ??= guardedTimeout(() => {
      this.#timer = undefined
      this.#run()
    }, this.#withinMs)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }
}
