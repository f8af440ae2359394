import { stat } from 'node:fs/promises'
import type { Clock } from '../base/clock.js'
import { inWords } from '../base/errno.js'
import type { Log } from '../log/log.js'

export interface ReloadOptions<T> {
  /** What the files are, for the log: `certificates of server main`. */
  readonly what: string
  readonly paths: readonly string[]
  /** Reads and parses the files. Rejects if they are invalid. */
  readonly read: () => Promise<T>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Interval of the check for changes. Polled, because container managers change a link above the file, which no file
 * event reports.
 */
export const RELOAD_PERIOD_MS = 5_000

/**
 * The parsed content of files that change while the process runs: certificates, lists of tokens. An unusable change,
 * such as a new key without its certificate, is logged, and the previous content stays in use.
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

  /** Rejects with the error of `read`. */
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

  /** Reads the files if they have changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#look()
    } catch (error) {
      this.#logFailure(error)
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

  #logFailure(error: unknown): void {
    const { what, log } = this.#options
    const reason = inWords(error)
    if (reason === this.#trouble) return
    this.#trouble = reason
    log.error(`${what} have changed and cannot be used: the ones before stay in use`, { reason })
  }
}

/** Changes when a file is replaced or written to. `read` reports files without access. */
const signature = async (paths: readonly string[]): Promise<string> => {
  const seen = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(inWords)))
  return seen
    .map((one) => (typeof one === 'string' ? one : `${one.dev}:${one.ino}:${one.size}:${one.ctimeNs}`))
    .join(' ')
}
