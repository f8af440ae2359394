import { StatusError } from '../base/status-error.js'
import { join } from './join.js'
import type { WritePath } from './path.js'

/**
 * A write path that another stage feeds chunk by chunk. That stage handles backpressure and failures of the
 * path.
 */
export class Branch {
  /** Settles once the path has closed: `undefined` if it committed, else the error. Never rejects. */
  readonly outcome: Promise<StatusError | undefined>
  readonly #path: WritePath
  readonly #first: WritePath[0]
  #isLive = true
  #onReady: (() => void) | undefined

  constructor(path: WritePath) {
    this.#path = path
    this.#first = path[0]
    // A destroyed stream emits 'close' but no 'drain', so waiting for 'drain' alone could block the transfer
    // for ever.
    this.#first.on('drain', () => this.#ready())
    this.#first.once('close', () => this.#dies())
    this.outcome = join(path).then(
      () => undefined,
      (error: unknown) => {
        this.#dies()
        return StatusError.from(error)
      },
    )
  }

  /** Whether the path accepts bytes. */
  get isLive(): boolean {
    return this.#isLive && !this.#first.destroyed
  }

  /**
   * False if the caller must wait for `onReady` before the next write. A dead branch drops bytes and returns
   * true.
   */
  write(chunk: Buffer): boolean {
    return !this.isLive || this.#first.write(chunk) || !this.isLive
  }

  /** Calls `ready` once when the branch accepts more bytes or is dead. */
  onReady(ready: () => void): void {
    if (this.isLive) this.#onReady = ready
    else ready()
  }

  end(): void {
    if (this.isLive) this.#first.end()
  }

  /** Destroys the branch unless it has committed. */
  destroy(error?: Error): void {
    for (const stage of this.#path) stage.destroy(error)
  }

  #dies(): void {
    this.#isLive = false
    this.#ready()
  }

  #ready(): void {
    const ready = this.#onReady
    this.#onReady = undefined
    ready?.()
  }
}
