import { StatusError } from '../base/status-error.js'
import { join } from './join.js'
import type { WritePath } from './path.js'

/** A write path fed chunk by chunk by another stage, which paces itself by it and decides what its failure means. */
export class Branch {
  /** Settles once the path has closed: `undefined` when it committed, else why it did not. Never rejects. */
  readonly outcome: Promise<StatusError | undefined>
  readonly #path: WritePath
  readonly #first: WritePath[0]
  #isLive = true
  #onReady: (() => void) | undefined

  constructor(path: WritePath) {
    this.#path = path
    this.#first = path[0]
    // A dead branch closes without draining: waiting for 'drain' alone would stall the transfer for good.
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

  /** Whether bytes can still be written to it. */
  get isLive(): boolean {
    return this.#isLive && !this.#first.destroyed
  }

  /** False when the caller must wait for `onReady` before it writes more. A branch that died takes anything. */
  write(chunk: Buffer): boolean {
    return !this.isLive || this.#first.write(chunk) || !this.isLive
  }

  /** Calls `ready` once when the branch takes more bytes or died. */
  onReady(ready: () => void): void {
    if (this.isLive) this.#onReady = ready
    else ready()
  }

  end(): void {
    if (this.isLive) this.#first.end()
  }

  /** Gives the branch up unless it committed. */
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
