import { inspect } from 'node:util'
import { stackOf } from '../base/stack.js'
import { KnownSecrets } from '../log/secrets.js'

export interface CrashParts {
  /** Must write synchronously, because the process ends afterwards. */
  readonly write: (text: string) => void
  readonly secrets?: KnownSecrets
}

/**
 * Ends the process with status 1 on an uncaught error or an unhandled rejection, like Node. The report omits the fields
 * of the error, which Node would print. Libraries keep requests with secrets in them.
 */
export const reportCrashes = ({ write, secrets = new KnownSecrets() }: CrashParts): void => {
  process.on('uncaughtException', (thrown, origin) => {
    const how = origin === 'unhandledRejection' ? 'an unhandled rejection' : 'an uncaught error'
    try {
      write(secrets.hide(`remexec: ended by ${how}: ${traceOf(thrown)}\n`))
    } finally {
      process.exit(1)
    }
  })
  // Node's own crash report, if enabled, would list environment variables.
  if (process.report !== undefined) Object.assign(process.report, { excludeEnv: true })
}

const MAX_CAUSES = 5

/** The messages and stacks of an error and its causes. */
export const traceOf = (thrown: unknown, depth = 0): string => {
  if (!(thrown instanceof Error))
    return typeof thrown === 'string' ? thrown : `a value that is not an error: ${kindOf(thrown)}`
  const text = stackOf(thrown)
  if (thrown.cause === undefined || depth === MAX_CAUSES) return text
  return `${text}\n  caused by ${traceOf(thrown.cause, depth + 1)}`
}

/** The type of a value, without its contents. */
const kindOf = (value: unknown): string => inspect(value, { depth: -1 })
