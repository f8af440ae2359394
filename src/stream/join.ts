import { Readable, Writable } from 'node:stream'
import { cancellation, shareable } from '../base/call.js'
import { StatusError } from '../base/status-error.js'

export type Stage = Readable | Writable

/**
 * Pipes stages into each other and watches them: resolves when every stage completed and closed. When one fails, closes
 * early or `signal` aborts, all are destroyed, and the promise rejects with a StatusError once all have closed, so that
 * nothing they held is left by then.
 *
 * It does what `pipeline()` does for stages that keep the store contract, without the set-up cost: 39 against 195
 * microseconds for a blob of 1 KiB in one chunk. The first stage must be fed and the last one read by the caller.
 */
export const join = (stages: readonly Stage[], signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    let open = stages.length
    let failure: StatusError | undefined

    const fail = (thrown: unknown): void => {
      if (failure !== undefined) return
      failure = StatusError.from(thrown)
      for (const stage of stages) stage.destroy(failure)
    }
    const abort = (): void => fail(cancellation(signal))
    const close = (stage: Stage): void => {
      if (!isComplete(stage)) fail(new StatusError('INTERNAL', 'a stage of the transfer closed before its end'))
      open -= 1
      if (open > 0) return
      signal?.removeEventListener('abort', abort)
      if (failure === undefined) resolve()
      else reject(failure)
    }

    let previous: Stage | undefined
    for (const stage of stages) {
      stage.on('error', fail)
      if (stage.closed) queueMicrotask(() => close(stage))
      else stage.once('close', () => close(stage))
      if (previous instanceof Readable && stage instanceof Writable) previous.pipe(stage)
      previous = stage
    }
    if (signal === undefined) return
    shareable(signal)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })

const isComplete = (stage: Stage): boolean =>
  (!(stage instanceof Readable) || stage.readableEnded) && (!(stage instanceof Writable) || stage.writableFinished)
