import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { inBackground } from '../../work/in-background.js'

/** So that a tag that stands for another image, or an image that had to go, is fetched before an action asks for it. */
const PERIOD_MS = 10 * 60_000

/** Fetches images of the configuration before actions name them. A failure is logged once, until the image could be fetched. */
export class Prefetch {
  readonly #wanted: readonly string[]
  readonly #fetch: (image: string) => Promise<void>
  readonly #log: Log
  readonly #failed = new Set<string>()
  readonly #stop: () => void
  #isRunning = false
  #isOver = false

  constructor(
    wanted: readonly string[],
    fetch: (image: string) => Promise<void>,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#wanted = wanted
    this.#fetch = fetch
    this.#log = log
    this.#stop = wanted.length > 0 ? clock.every(PERIOD_MS, () => this.begin()) : () => {}
  }

  /** Fetches all that is not here, one after the other. */
  begin(): void {
    if (this.#isRunning || this.#isOver) return
    this.#isRunning = true
    inBackground(this.#run(), this.#log, 'the prefetch of images')
  }

  close(): void {
    this.#isOver = true
    this.#stop()
  }

  async #run(): Promise<void> {
    for (const image of this.#wanted) {
      if (this.#isOver) return
      try {
        await this.#fetch(image)
        this.#failed.delete(image)
      } catch (error) {
        if (this.#isOver || this.#failed.has(image)) continue
        this.#failed.add(image)
        this.#log.warn('an image of prefetch could not be fetched; it is tried again', {
          ...{ image, error: StatusError.from(error), retryMs: PERIOD_MS },
        })
      }
    }
    this.#isRunning = false
  }
}
