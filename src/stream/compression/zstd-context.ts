import { CompressContext, CompressParameter, DecompressContext } from './libzstd.js'

/** A native context that can be reused for another stream. */
interface Resettable {
  reset(): void
  close(): void
}

/**
 * Idle native contexts. A context holds hundreds of KiB outside the JavaScript heap; reuse saves the set-up
 * of its tables.
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

  /** Returns a context that has decoded `decodedBytes`. */
  give(context: C, decodedBytes = 0): void {
    if (this.#idle.length >= MAX_IDLE || decodedBytes > MAX_POOLED_BYTES) context.close()
    else {
      context.reset()
      this.#idle.push(context)
    }
  }
}

const MAX_IDLE = 8

/** A context that decoded more may hold a whole window, so it is closed instead of pooled. */
const MAX_POOLED_BYTES = 8 * 1024 * 1024

/** Contexts that compress at a level. */
export const compressorsAt = (level: number): ContextPool<CompressContext> =>
  new ContextPool(() => {
    const context = new CompressContext()
    context.setParameter(CompressParameter.compressionLevel, level)
    return context
  })

export const decompressors = new ContextPool(() => new DecompressContext())
