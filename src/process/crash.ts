import { inspect } from 'node:util'
import { KnownSecrets } from '../log/secrets.js'

export interface CrashParts {
  /** At once: nothing comes after it. */
  readonly write: (text: string) => void
  readonly secrets?: KnownSecrets
}

/**
 * Has an error that nobody handled, thrown or rejected with, end the process with status 1 as Node would, and tells of it without what
 * Node would tell too: the fields of the error, in which libraries keep requests with all that is secret in them.
 */
export const tellOfCrashes = ({ write, secrets = new KnownSecrets() }: CrashParts): void => {
  process.on('uncaughtException', (thrown, origin) => {
    const how = origin === 'unhandledRejection' ? 'a rejection that nobody handled' : 'an error that nobody handled'
    try {
      write(secrets.hide(`remexec: ended by ${how}: ${traceOf(thrown)}\n`))
    } finally {
      process.exit(1)
    }
  })
  // A report of Node's on a crash, where it is switched on, would list the variables of the environment.
  if (process.report !== undefined) Object.assign(process.report, { excludeEnv: true })
}

const MAX_CAUSES = 5

/** Messages and places of an error and of what caused it. */
export const traceOf = (thrown: unknown, depth = 0): string => {
  if (!(thrown instanceof Error))
    return typeof thrown === 'string' ? thrown : `a value that is no error: ${kindOf(thrown)}`
  const own = thrown.stack ?? thrown.message
  if (thrown.cause === undefined || depth === MAX_CAUSES) return own
  return `${own}\n  caused by ${traceOf(thrown.cause, depth + 1)}`
}

/** What it is and nothing of what is in it. */
const kindOf = (value: unknown): string => inspect(value, { depth: -1 })
