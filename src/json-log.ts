import pino from 'pino'
import type { Log, LogFields, LogLevel } from './base/log.js'

/** Names under which a secret might come; their values are never written. */
const SECRET_FIELDS = ['authorization', 'password', 'token', 'secret', 'headers', 'cookie', 'private_key']

/** A log that writes one JSON object a line to `write`: `level`, `time`, what the fields say, and `msg`. */
export const jsonLog = (level: LogLevel, write: (line: string) => void): Log => {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '(hidden)' },
    },
    { write },
  )
  return {
    debug: (message, fields) => {
      // Fields that take work to find out are found out only for a line that is written.
      if (logger.isLevelEnabled('debug'))
        logger.debug(typeof fields === 'function' ? fields() : (fields ?? {}), message)
    },
    info: (message, fields: LogFields = {}) => logger.info(fields, message),
    warn: (message, fields: LogFields = {}) => logger.warn(fields, message),
    error: (message, fields: LogFields = {}) => logger.error(fields, message),
  }
}
