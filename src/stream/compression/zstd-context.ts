import binding from 'zstd-napi/binding.js'

export type CompressContext = InstanceType<typeof binding.CCtx>
export type DecompressContext = InstanceType<typeof binding.DCtx>

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

/** A context that decoded more may hold a window of that size (up to 128 MiB): it is left to the garbage collector. */
export const MAX_POOLED_BYTES = 8 * 1024 * 1024

/** Contexts that compress at a level. */
export const compressorsAt = (level: number): ContextPool<CompressContext> =>
  new ContextPool(() => {
    const context = new binding.CCtx()
    context.setParameter(binding.CParameter.compressionLevel, level)
    return context
  })

export const decompressors = new ContextPool<DecompressContext>(() => new binding.DCtx())
