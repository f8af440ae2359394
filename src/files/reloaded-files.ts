import { stat } from 'node:fs/promises'
import type { Clock } from '../base/clock.js'
import { inWords } from '../base/errno.js'
import type { Log } from '../log/log.js'

export interface ReloadOptions<T> {
  /** What the files are, for the log: `certificates of server main`. */
  readonly what: string
  readonly paths: readonly string[]
  /** Reads the files and makes of them what is used. Rejects where they are wrong. */
  readonly read: () => Promise<T>
  readonly clock: Clock
  readonly log: Log
}

/** How soon a change is seen. Looked for, because container managers change a link above the file, of which nobody is told. */
export const RELOAD_PERIOD_MS = 5_000

/**
 * What was made of files that others write anew while the process runs: certificates, lists of tokens. A change that
 * cannot be read, such as a key whose certificate is still to come, is told, and what was read before stays in use.
 */
export class ReloadedFiles<T> {
  readonly #options: ReloadOptions<T>
  readonly #heard: ((now: T) => void)[] = []
  readonly #stop: () => void
  #current: T
  #seen: string
  #trouble: string | undefined
  #isLooking = false

  private constructor(options: ReloadOptions<T>, first: T, seen: string) {
    this.#options = options
    this.#current = first
    this.#seen = seen
    this.#stop = options.clock.every(RELOAD_PERIOD_MS, () => this.look())
  }

  /** Rejects as `read` does. */
  static async open<T>(options: ReloadOptions<T>): Promise<ReloadedFiles<T>> {
    const seen = await signature(options.paths)
    return new ReloadedFiles(options, await options.read(), seen)
  }

  get current(): T {
    return this.#current
  }

  onChange(heard: (now: T) => void): void {
    this.#heard.push(heard)
  }

  close(): void {
    this.#stop()
  }

  /** Reads what has changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#look()
    } catch (error) {
      this.#tell(error)
    } finally {
      this.#isLooking = false
    }
  }

  async #look(): Promise<void> {
    const { paths, read, what, log } = this.#options
    const seen = await signature(paths)
    if (seen === this.#seen) return
    this.#current = await read()
    this.#seen = seen
    this.#trouble = undefined
    for (const heard of this.#heard) heard(this.#current)
    log.info(`${what} were read again`)
  }

  #tell(error: unknown): void {
    const { what, log } = this.#options
    const reason = inWords(error)
    if (reason === this.#trouble) return
    this.#trouble = reason
    log.error(`${what} have changed and cannot be used: the ones before stay in use`, { reason })
  }
}

/** Other whenever one of the files is another one, or has been written to. What cannot be looked at is for `read` to tell. */
const signature = async (paths: readonly string[]): Promise<string> => {
  const seen = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(inWords)))
  return seen
    .map((one) => (typeof one === 'string' ? one : `${one.dev}:${one.ino}:${one.size}:${one.ctimeNs}`))
    .join(' ')
}
