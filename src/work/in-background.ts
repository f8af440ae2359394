import type { Log } from '../log/log.js'

/**
 * Lets work go on that nobody waits for. It should handle its failures itself: one that it lets through is an error of ours, which
 * is logged and does not end the process.
 */
export const inBackground = (work: Promise<unknown>, log: Log, what: string): void => {
  work.catch((error: unknown) => log.error(`${what} failed`, { error }))
}
