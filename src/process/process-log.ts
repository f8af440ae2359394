import { StatusError } from '../base/status-error.js'
import { type Log, type LogLevel, textLog } from '../log/log.js'
import { withoutSecrets } from '../log/secrets.js'
import { SwitchableLog } from '../log/switchable-log.js'
import type { GatheredOutput } from './gathered-output.js'
import { jsonLog } from './json-log.js'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const FORMATS = ['text', 'json'] as const

/**
 * The log of the process: text on a terminal, otherwise JSON for log collectors. `REMEXEC_LOG_FORMAT` (`text`, `json`)
 * and `REMEXEC_LOG_LEVEL` override that and the configuration. INVALID_ARGUMENT for other values. Warnings and errors
 * are written immediately, other lines soon.
 */
export const processLog = (configured: LogLevel, env: NodeJS.ProcessEnv, output: GatheredOutput): SwitchableLog => {
  const level = levelOf(configured, env)
  const format = oneOf(env, 'REMEXEC_LOG_FORMAT', FORMATS) ?? (output.isTTY ? 'text' : 'json')
  const logTo = format === 'text' ? textLog : jsonLog
  output.noticeOf = (count, reason) => {
    let notice = ''
    const log = logTo('warn', (line) => {
      notice = line
    })
    log.warn('lines of the log were lost', { count, reason })
    return notice
  }
  const write = (line: string): void => output.write(withoutSecrets(line))
  return new SwitchableLog(level, (one) => written(logTo(one, write), output))
}

/** The variable overrides the configuration. */
export const levelOf = (configured: LogLevel, env: NodeJS.ProcessEnv): LogLevel =>
  oneOf(env, 'REMEXEC_LOG_LEVEL', LEVELS) ?? configured

const written = (log: Log, { flush }: GatheredOutput): Log => ({
  ...log,
  warn: (message, fields) => {
    log.warn(message, fields)
    flush()
  },
  error: (message, fields) => {
    log.error(message, fields)
    flush()
  },
})

const oneOf = <Word extends string>(
  env: NodeJS.ProcessEnv,
  variable: string,
  words: readonly Word[],
): Word | undefined => {
  const text = env[variable] ?? ''
  const word = words.find((known) => known === text.toLowerCase())
  if (text === '' || word !== undefined) return word
  throw new StatusError('INVALID_ARGUMENT', `${variable} is ${JSON.stringify(text)}, expected ${words.join(', ')}`)
}
