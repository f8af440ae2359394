import type { Config, ServerConfig } from '../../config/config.js'
import type { HealthRegistry } from '../../health/registry.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { SchedulerOverview } from '../../scheduler/scheduler.js'
import type { RecentLines } from './recent-lines.js'
import type { Trends } from './trends.js'

/** Where a page sends a form that changes something, and the token that goes with it. */
export interface OperatorForms {
  form(
    change: 'drain' | 'undrain' | 'drop-scope',
    about: Readonly<Record<string, string>>,
    identity: string | undefined,
  ): { readonly target: string; readonly token: string }
}

/** What a scope keeps in one action cache. */
export interface KeptScope {
  readonly scope: string
  readonly instanceName: string
  readonly sizeBytes: number
  readonly entryCount: number
  readonly usedMs: number
  /** Results of actions that its callers asked for since the start, by where they were found. */
  readonly reads: { readonly own: number; readonly shared: number; readonly parent: number; readonly none: number }
}

/** What a list says about a build. */
export interface NamedBuild {
  /** Its command and its targets. */
  readonly what: string
  readonly user: string | undefined
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
  /** Undefined if no events of it are kept. Whether the reader may see it is for the page to ask. */
  readonly buildOf: (invocation: string, instance: string) => NamedBuild | undefined
  readonly version: string
  /** Undefined if the server has no health service. */
  readonly healthPath: string | undefined
  /** Undefined if the server has no admin service. */
  readonly forms: OperatorForms | undefined
  /** What branches keep, of those that were used since the start. */
  readonly scopes: () => readonly KeptScope[]
}
