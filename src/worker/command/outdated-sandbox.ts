import { StatusError } from '../../base/status-error.js'

/** More than were needed while ten sockets at a time came and went within milliseconds. */
const MAX_TRIES = 10

/** Nothing ran, because a place of the machine that was to be hidden has gone between the look at it and the start of the sandbox. */
export class OutdatedSandbox extends StatusError {}

/** Tries again with the places that are still there: sockets of other programs come and go at any time. */
export const inLatestSandbox = async <T>(start: () => Promise<T>, beforeNext = (): void => {}): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof OutdatedSandbox) || tries === MAX_TRIES) throw error
      beforeNext()
    }
  }
}
