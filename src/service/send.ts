import type { Writable } from 'node:stream'
import type { Clock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import { LATE, within } from '../work/deadline.js'

/**
 * Writes one response and waits until the client has room for the next. Rejects with CANCELLED if the client is gone.
 */
export const send = async (responses: Writable, response: object): Promise<void> => {
  if (!responses.destroyed && responses.write(response)) return
  await new Promise<void>((resolve, reject) => whenRoom(responses, (error) => (error ? reject(error) : resolve())))
}

/**
 * Like `send`, but rejects with ABORTED if the client reads nothing for `patienceMs`. For callers that hold a resource
 * that other calls wait for.
 */
export const sendSoon = async (
  responses: Writable,
  response: object,
  { clock, patienceMs }: { readonly clock: Clock; readonly patienceMs: number },
): Promise<void> => {
  if ((await within(patienceMs, send(responses, response), clock)) !== LATE) return
  throw new StatusError('ABORTED', `the client has not read the last response for ${patienceMs / 1000} s`)
}

/** Calls back once `responses` has room again, or with CANCELLED once the stream is destroyed. */
export const whenRoom = (responses: Writable, callback: (error?: StatusError) => void): void => {
  const settle = (): void => {
    responses.off('drain', settle)
    responses.off('close', settle)
    if (responses.destroyed) callback(new StatusError('CANCELLED', 'the client no longer reads the responses'))
    else callback()
  }
  if (responses.destroyed) {
    settle()
    return
  }
  // A destroyed stream never emits 'drain', so 'close' has to end the wait too.
  responses.on('drain', settle)
  responses.on('close', settle)
}
