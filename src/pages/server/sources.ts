import type { Config, ServerConfig } from '../../config/config.js'
import type { HealthRegistry } from '../../health/registry.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { SchedulerOverview } from '../../scheduler/scheduler.js'
import type { RecentLines } from './recent-lines.js'
import type { Trends } from './trends.js'

/** Where a page sends a form that changes a worker, and the token that goes with it. */
export interface WorkerForms {
  form(
    change: 'drain' | 'undrain',
    scheduler: string,
    worker: string,
    identity: string | undefined,
  ): { readonly target: string; readonly token: string }
}

/** By the names of the schedulers; of those whose queue is in another process what that told last. */
export type Overviews = () => ReadonlyMap<string, SchedulerOverview>

/** What the pages about the server read. */
export interface ServerSources {
  readonly config: Config
  /** The server that the pages belong to. */
  readonly server: ServerConfig
  readonly health: HealthRegistry
  readonly metrics: Metrics
  readonly recent: RecentLines
  readonly trends: Trends
  readonly overviews: Overviews
  /** Waits a moment for what other processes tell of their queues. */
  readonly refresh: () => Promise<void>
  readonly version: string
  /** Undefined if the server has no health service. */
  readonly healthPath: string | undefined
  /** Undefined if the server has no admin service. */
  readonly forms: WorkerForms | undefined
}
