import { type Log, type LogLevel, textLog } from './base/log.js'
import { withoutSecrets } from './base/secrets.js'
import { StatusError } from './base/status-error.js'
import { jsonLog } from './json-log.js'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const FORMATS = ['text', 'json'] as const

interface Output {
  readonly isTTY?: boolean
  write(line: string): unknown
}

/**
 * The log of the process: lines for people on a terminal, JSON for whatever collects logs otherwise. `REMEXEC_LOG_FORMAT`
 * (`text`, `json`) and `REMEXEC_LOG_LEVEL` win over that and over the configuration. INVALID_ARGUMENT when one of them is
 * something else.
 */
export const processLog = (configured: LogLevel, env: NodeJS.ProcessEnv, output: Output): Log => {
  const level = oneOf(env, 'REMEXEC_LOG_LEVEL', LEVELS) ?? configured
  const format = oneOf(env, 'REMEXEC_LOG_FORMAT', FORMATS) ?? (output.isTTY === true ? 'text' : 'json')
  const write = (line: string): void => void output.write(withoutSecrets(line))
  return format === 'text' ? textLog(level, write) : jsonLog(level, write)
}

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
