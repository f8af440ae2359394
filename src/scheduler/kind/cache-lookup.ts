import type { CacheLookupSchedulerOptions } from '../../config/config.js'
import { ForwardingScheduler } from '../forwarding.js'
import type { SchedulerKind } from '../kind.js'
import type { ExecutionRequest, Scheduler } from '../scheduler.js'

/** Adds an action cache to those that are asked before an action is queued. */
export const cacheLookup: SchedulerKind<CacheLookupSchedulerOptions> = {
  build: async ({ ac_store, scheduler }, { child }) => new CacheLookup(await child(scheduler), ac_store),
}

class CacheLookup extends ForwardingScheduler {
  readonly #acStore: string

  constructor(next: Scheduler, acStore: string) {
    super(next)
    this.#acStore = acStore
  }

  override incoming(request: ExecutionRequest): ExecutionRequest {
    return { ...request, lookUpIn: [...(request.lookUpIn ?? []), this.#acStore] }
  }
}
