import type { EventEmitter } from 'node:events'

/** A stream that many writers share. */
interface Shared extends EventEmitter {
  readonly destroyed: boolean
  readonly writableNeedDrain?: boolean
}

/** Waits for room in a stream that many writers share: with one pair of listeners, however many wait. */
export class Room {
  readonly #stream: Shared
  #waiting: Promise<void> | undefined
  #settle = (): void => {}

  constructor(stream: Shared) {
    this.#stream = stream
  }

  /** Resolves when the stream takes more, or has ended. */
  free(): Promise<void> {
    const stream = this.#stream
    if (stream.destroyed || stream.writableNeedDrain !== true) return Promise.resolve()
    this.#waiting ??= new Promise((resolve) => {
      this.#settle = () => {
        this.#waiting = undefined
        stream.off('drain', this.#settle).off('close', this.#settle)
        resolve()
      }
      stream.on('drain', this.#settle).on('close', this.#settle)
    })
    return this.#waiting
  }

  /** Nothing is written any more: nobody waits on. */
  close(): void {
    this.#settle()
  }
}
