import type { HealthStatus } from '../../base/health.js'
import { counted } from '../../base/quantities.js'
import type { RemoteQueue } from '../grpc/remote-queue.js'
import type { Office } from './office.js'

export interface Standing {
  readonly office: Office | undefined
  readonly followed:
    | {
        readonly term: { readonly epoch: number }
        readonly remote: { readonly backend: string }
        readonly queue: RemoteQueue
      }
    | undefined
  /** Since when nobody is known to lead. */
  readonly unledForMs: number
  /** What operators should know. */
  readonly trouble: string | undefined
}

/** Elections take seconds: only after that is it a failure that nobody leads. */
const UNLED_MS = 10_000

/** The health of a server that is one of several with one queue. */
export const electedHealth = async (
  { office, followed, unledForMs, trouble }: Standing,
  signal: AbortSignal,
): Promise<HealthStatus> => {
  if (office !== undefined) {
    const status = await office.host.probe.check(signal)
    const others = counted(Math.max(0, office.frontCount - 1), 'other server')
    const message = `leads term ${office.epoch}, with ${others}; ${status.message}`
    return trouble === undefined ? { ...status, message } : { state: 'Warning', message: `${message}; ${trouble}` }
  }
  if (followed !== undefined) {
    await followed.queue.refresh()
    const message = `the queue is at ${followed.remote.backend}, term ${followed.term.epoch}`
    return trouble === undefined ? { state: 'Ok', message } : { state: 'Warning', message: `${message}; ${trouble}` }
  }
  const message = 'no server leads the queue'
  if (unledForMs < UNLED_MS) return { state: 'Initializing', message }
  return { state: 'Failed', message, error: trouble ?? 'nobody was elected' }
}
