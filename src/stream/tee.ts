import { Readable, Writable } from 'node:stream'
import { STAGE_BYTES } from './path.js'

/** One of those who get what goes into a tee. */
export class TeeBranch extends Readable {
  #onRoom: (() => void) | undefined
  #isHeld: boolean
  #isOver = false

  /** With `holdsEnd` it does not end before `release`. */
  constructor({ holdsEnd = false }: { readonly holdsEnd?: boolean } = {}) {
    super({ highWaterMark: STAGE_BYTES })
    this.#isHeld = holdsEnd
    // It may end before anybody reads it: who then begins to finds it closed, and an unheard 'error' would end the process.
    this.on('error', () => {})
  }

  /** False when the caller must wait for `onRoom` before it gives more. A branch that was destroyed takes anything. */
  give(chunk: Buffer): boolean {
    return this.destroyed || this.push(chunk)
  }

  /** Calls `ready` once when there is room for more, or nobody reads any more. */
  onRoom(ready: () => void): void {
    if (this.destroyed) ready()
    else this.#onRoom = ready
  }

  /** No more comes. */
  finish(): void {
    this.#isOver = true
    if (!this.#isHeld && !this.destroyed) this.push(null)
  }

  /** Lets it end. */
  release(): void {
    this.#isHeld = false
    if (this.#isOver && !this.destroyed) this.push(null)
  }

  override _read(): void {
    this.#wake()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#wake()
    callback(error)
  }

  #wake(): void {
    const ready = this.#onRoom
    this.#onRoom = undefined
    ready?.()
  }
}

/**
 * What is written into it goes to every branch; the slowest one that is left paces the source. A branch that is destroyed
 * is left out from then on. Chunks are shared, not copied. It fails with all its branches, and they with it.
 */
export class Tee extends Writable {
  readonly #branches: readonly TeeBranch[]

  constructor(branches: readonly TeeBranch[]) {
    super({ highWaterMark: STAGE_BYTES })
    this.#branches = branches
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    let waiting = 1
    const ready = (): void => {
      waiting -= 1
      if (waiting === 0) callback()
    }
    for (const branch of this.#branches) {
      if (branch.give(chunk)) continue
      waiting += 1
      branch.onRoom(ready)
    }
    ready()
  }

  override _final(callback: () => void): void {
    for (const branch of this.#branches) branch.finish()
    callback()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // Destroyed because it is through, it leaves its branches to their readers.
    if (!this.writableFinished) for (const branch of this.#branches) branch.destroy(error ?? undefined)
    callback(error)
  }
}
