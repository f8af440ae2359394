import type { Log, LogFields, LogLevel } from './log.js'

/** A log whose level can change while the process runs. */
export class SwitchableLog implements Log {
  readonly #at: (level: LogLevel) => Log
  #level: LogLevel
  #log: Log

  /** `at` creates the log that writes at a level. */
  constructor(level: LogLevel, at: (level: LogLevel) => Log) {
    this.#at = at
    this.#level = level
    this.#log = at(level)
  }

  get level(): LogLevel {
    return this.#level
  }

  set level(level: LogLevel) {
    if (level === this.#level) return
    this.#level = level
    this.#log = this.#at(level)
  }

  debug(message: string, fields?: LogFields | (() => LogFields)): void {
    this.#log.debug(message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#log.warn(message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, fields)
  }
}
