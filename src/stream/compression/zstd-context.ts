import binding from 'zstd-napi/binding.js'

/** The part of a native context that makes it usable for another stream. */
interface Resettable {
  reset(directive: number): void
}

/**
 * Native contexts that wait for their next stream. A context holds hundreds of KiB outside the JavaScript heap, which
 * only a garbage collection would free: reusing them keeps many short transfers from piling them up, and saves the
 * set-up of their tables.
 */
export class ContextPool<C extends Resettable> {
  readonly #create: () => C
  readonly #idle: C[] = []

  constructor(create: () => C) {
    this.#create = create
  }

  take(): C {
    return this.#idle.pop() ?? this.#create()
  }

  give(context: C): void {
    if (this.#idle.length >= MAX_IDLE) return
    context.reset(binding.ResetDirective.sessionOnly)
    this.#idle.push(context)
  }
}

const MAX_IDLE = 8
