/**
 * Why a persistent worker process gave no valid answer. None of it is the action's failure: the request is made again in a
 * new process, and then the command runs without one.
 * - `start`: it could not be started, or its input root could not be made.
 * - `died`: it ended before its answer was complete.
 * - `garbage`: it wrote something else than one answer to its request.
 * - `stopped`: it was stopped by a signal, or its answer did not go on.
 * - `late`, `limits`: it ran out of time, or exceeded a limit of actions, after earlier requests that may be the reason.
 */
export type FaultReason = 'start' | 'died' | 'garbage' | 'stopped' | 'late' | 'limits'

export class ProcessFault extends Error {
  readonly reason: FaultReason

  constructor(reason: FaultReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The action is not one for a persistent worker: its command runs as it stands. */
export class Unsuited extends Error {}
