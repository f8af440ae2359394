import type { Clock } from '../../base/clock.js'
import type { Log, LogFields, LogLevel } from '../../log/log.js'

export interface RecentLine {
  readonly atMs: number
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly about: string
}

const MAX_LINES = 20

/** Log fields that the page may show to every visitor. None of them contains a path. */
const SHOWN = ['component', 'state', 'store', 'worker', 'attempt', 'method', 'code', 'blob']

/** A log that also keeps its latest warnings and errors, without fields that may contain paths of this machine. */
export class RecentLines implements Log {
  readonly #log: Log
  readonly #clock: Clock
  #lines: readonly RecentLine[] = []

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  get level(): LogLevel | undefined {
    return this.#log.level
  }

  /** Newest first. */
  get lines(): readonly RecentLine[] {
    return this.#lines
  }

  debug(message: string, fields?: LogFields | (() => LogFields)): void {
    this.#log.debug(message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#keep('warn', message, fields)
    this.#log.warn(message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#keep('error', message, fields)
    this.#log.error(message, fields)
  }

  #keep(level: 'warn' | 'error', message: string, fields: LogFields = {}): void {
    const about = SHOWN.flatMap((name) => (fields[name] === undefined ? [] : [`${name} ${String(fields[name])}`]))
    const line = { atMs: this.#clock.now(), level, message, about: about.join(', ') }
    this.#lines = [line, ...this.#lines.slice(0, MAX_LINES - 1)]
  }
}
