import { StatusError } from '../../../base/status-error.js'
import { retryInfo } from '../../../proto/error-details.js'
import type { SimpleSettings } from '../settings.js'
import type { Queue } from './queue.js'

const RETRY_MS = 1_000

type Bounds = Pick<SimpleSettings, 'maxQueuedActions' | 'maxQueuedActionsPerInstance'>

/** Throws RESOURCE_EXHAUSTED if the queue takes no further action, or none of this instance. */
export const checkRoom = (queue: Queue, instanceName: string, bounds: Bounds): void => {
  const { maxQueuedActions, maxQueuedActionsPerInstance: ofInstance } = bounds
  const isFullFor = queue.tenants.queuedOf(instanceName) >= ofInstance
  if (queue.size < maxQueuedActions && !isFullFor) return
  const message = isFullFor
    ? `the queue is full for instance ${JSON.stringify(instanceName)}: ${ofInstance} of its actions wait (max_queued_actions_per_instance)`
    : `the queue is full: ${maxQueuedActions} actions wait (max_queued_actions)`
  throw new StatusError('RESOURCE_EXHAUSTED', message, { details: [retryInfo(RETRY_MS)] })
}

export const drainingNow = (): StatusError =>
  new StatusError('UNAVAILABLE', 'the scheduler is shutting down and queues no actions', {
    details: [retryInfo(RETRY_MS)],
  })
