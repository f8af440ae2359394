import type { Holder } from './holder.js'
import type { Kind } from './kind.js'
import { FREE_BYTES } from './kinds.js'

const SLAB_BYTES = 64 * 1024

/**
 * Counts the bytes of one kind for a connection whose usage changes with each small call. The first FREE_BYTES are
 * free; beyond that it reserves from the kind in slabs. A small call then costs an addition and a comparison.
 */
export class Account {
  readonly #kind: Kind
  readonly #holder: Holder
  #usedBytes = 0
  #reservedBytes = 0

  constructor(kind: Kind, holder: Holder) {
    this.#kind = kind
    this.#holder = holder
  }

  /** False, with nothing counted, if a bound would be exceeded. */
  take(sizeBytes: number): boolean {
    const usedBytes = this.#usedBytes + sizeBytes
    if (usedBytes > this.#reservedBytes + FREE_BYTES && !this.#grow(usedBytes)) return false
    this.#usedBytes = usedBytes
    return true
  }

  give(sizeBytes: number): void {
    this.#usedBytes -= sizeBytes
    if (this.#reservedBytes > 0) this.#shrink()
  }

  #grow(usedBytes: number): boolean {
    const byBytes = slabsFor(usedBytes) - this.#reservedBytes
    if (!this.#kind.take(this.#holder, byBytes)) return false
    this.#reservedBytes += byBytes
    return true
  }

  /**
   * Keeps one slab more than needed, unless none is needed, so that usage around a slab boundary causes no
   * reservations.
   */
  #shrink(): void {
    const neededBytes = slabsFor(this.#usedBytes)
    const keptBytes = neededBytes === 0 ? 0 : neededBytes + SLAB_BYTES
    if (keptBytes >= this.#reservedBytes) return
    const byBytes = this.#reservedBytes - keptBytes
    this.#reservedBytes = keptBytes
    this.#kind.give(this.#holder, byBytes)
  }
}

const slabsFor = (usedBytes: number): number => Math.ceil(Math.max(0, usedBytes - FREE_BYTES) / SLAB_BYTES) * SLAB_BYTES
