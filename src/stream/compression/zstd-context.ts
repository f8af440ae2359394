import { CompressContext, CompressParameter, DecompressContext } from './libzstd.js'

/** The part of a native context that makes it usable for another stream. */
interface Resettable {
  reset(): void
  close(): void
}

/**
 * Native contexts that wait for their next stream. A context holds hundreds of KiB outside the JavaScript heap: reusing
 * them saves the set-up of their tables.
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

  /** Takes a context back, which decoded so many bytes. */
  give(context: C, decodedBytes = 0): void {
    if (this.#idle.length >= MAX_IDLE || decodedBytes > MAX_POOLED_BYTES) context.close()
    else {
      context.reset()
      this.#idle.push(context)
    }
  }
}

const MAX_IDLE = 8

/** A context that decoded more may hold a whole window: it is closed, not pooled. */
const MAX_POOLED_BYTES = 8 * 1024 * 1024

/** Contexts that compress at a level. */
export const compressorsAt = (level: number): ContextPool<CompressContext> =>
  new ContextPool(() => {
    const context = new CompressContext()
    context.setParameter(CompressParameter.compressionLevel, level)
    return context
  })

export const decompressors = new ContextPool(() => new DecompressContext())
