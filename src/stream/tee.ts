import { Readable, Writable } from 'node:stream'
import { STAGE_BYTES } from './path.js'

/** One of the readers of a tee. */
export class TeeBranch extends Readable {
  #onRoom: (() => void) | undefined
  #isHeld: boolean
  #isOver = false

  /** With `holdsEnd` it does not end before `release`. */
  constructor({ holdsEnd = false }: { readonly holdsEnd?: boolean } = {}) {
    super({ highWaterMark: STAGE_BYTES })
    this.#isHeld = holdsEnd
    // The branch may fail before it has a reader. The reader finds it closed; an unhandled 'error' would end
    // the process.
    this.on('error', () => {})
  }

  /**
   * False if the caller must wait for `onRoom` before the next chunk. A destroyed branch drops chunks and
   * returns true.
   */
  give(chunk: Buffer): boolean {
    return this.destroyed || this.push(chunk)
  }

  /** Calls `ready` once when the branch has room or is destroyed. */
  onRoom(ready: () => void): void {
    if (this.destroyed) ready()
    else this.#onRoom = ready
  }

  /** Call this after the last chunk. */
  finish(): void {
    this.#isOver = true
    if (!this.#isHeld && !this.destroyed) this.push(null)
  }

  /** Allows a held branch to end. */
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
 * Copies its input to every branch; chunks are shared. The slowest live branch sets the pace, and destroyed
 * branches are skipped. If the tee fails, all branches fail with it.
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
    // Node also destroys a finished stream. Its branches still have readers then.
    if (!this.writableFinished) for (const branch of this.#branches) branch.destroy(error ?? undefined)
    callback(error)
  }
}
