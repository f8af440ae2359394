import { cancellation } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import { shareable } from '../../stream/join.js'

/**
 * Runs work that may take `timeoutMs` (0: any time) and no longer than its call lives. Its signal aborts when either has
 * ended, and nobody waits then for work that does not heed it. `late` is what is told: DEADLINE_EXCEEDED.
 */
export const before = async <T>(
  timeoutMs: number,
  late: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (signal.aborted) throw cancellation(signal)
  shareable(signal)
  const controller = new AbortController()
  let end = (_error: StatusError): void => {}
  const ended = new Promise<never>((_resolve, reject) => {
    end = (error) => {
      reject(error)
      controller.abort(error)
    }
  })
  const abort = (): void => end(cancellation(signal))
  const expire = (): void => end(new StatusError('DEADLINE_EXCEEDED', `${late} within ${timeoutMs} ms`))
  const timer = timeoutMs > 0 ? setTimeout(expire, timeoutMs) : undefined
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work(controller.signal), ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
