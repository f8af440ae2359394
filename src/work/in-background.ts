import type { Log } from '../log/log.js'

/**
 * Runs work without a waiting caller. It should handle its own failures; one that it does not handle is a bug, which is
 * logged and does not end the process.
 */
export const inBackground = (work: Promise<unknown>, log: Log, what: string): void => {
  work.catch((error: unknown) => log.error(`${what} failed`, { error }))
}
