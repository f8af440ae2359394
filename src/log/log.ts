import { stackOf } from '../base/stack.js'
import { Code, codeName, StatusError } from '../base/status-error.js'
import { hideSecrets } from './secrets.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type LogFields = Readonly<Record<string, unknown>>

/** A log for operators: a line is one sentence and its values, never an object dump. */
export interface Log {
  /** The lowest level written. Lets a worker process drop lines before sending them; absent means all. */
  readonly level?: LogLevel | undefined
  /** Fields that are expensive to compute are passed as a function, called only if the line is written. */
  debug(message: string, fields?: LogFields | (() => LogFields)): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const CONTROL_PICTURES = 0x2400
const PICTURE_OF_DELETE = '\u2421'
const UNPICTURED = '\ufffd'

/** A line of text that is safe for a terminal: control characters other than tabs become visible ones, one for one. */
export const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  line.replaceAll(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, (control) => {
    const code = control.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code)
    return code === 0x7f ? PICTURE_OF_DELETE : UNPICTURED
  })

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** Whether a log with the level `least` writes lines of `level`. */
export const isWritten = (level: LogLevel, least: LogLevel): boolean => RANK[level] >= RANK[least]

/** Failures of the network and of other machines, whose stack trace says nothing about them. */
const WITHOUT_STACK: ReadonlySet<number> = new Set([Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED])

/** The text of an error whose stack trace says nothing; undefined for other values. */
export const stacklessText = (value: unknown): string | undefined =>
  value instanceof StatusError && WITHOUT_STACK.has(value.code)
    ? `${codeName(value.code)}: ${value.message}`
    : undefined

const render = (value: unknown): string => {
  const stackless = stacklessText(value)
  if (stackless !== undefined) return JSON.stringify(stackless)
  if (value instanceof Error) return JSON.stringify(stackOf(value.cause instanceof Error ? value.cause : value))
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}

/** A log that writes one `key=value` line per event to `write`. `now` returns milliseconds since the epoch. */
export const textLog = (level: LogLevel, write: (line: string) => void, now: () => number = Date.now): Log => {
  const at =
    (of: LogLevel) =>
    (message: string, fields: LogFields | (() => LogFields) = {}): void => {
      if (!isWritten(of, level)) return
      const found = hideSecrets(typeof fields === 'function' ? fields() : fields)
      const tail = Object.entries(found).map(([name, value]) => ` ${name}=${render(value)}`)
      write(`${printable(`${new Date(now()).toISOString()} ${of.padEnd(5)} ${message}${tail.join('')}`)}\n`)
    }
  return { level, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The same log with these fields added to every line. */
export const withFields = (log: Log, base: LogFields): Log => ({
  level: log.level,
  debug: (message, fields) =>
    log.debug(message, () => ({ ...base, ...(typeof fields === 'function' ? fields() : fields) })),
  info: (message, fields) => log.info(message, { ...base, ...fields }),
  warn: (message, fields) => log.warn(message, { ...base, ...fields }),
  error: (message, fields) => log.error(message, { ...base, ...fields }),
})

export const silentLog: Log = textLog('error', () => {})
