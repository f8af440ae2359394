import type { Clock } from '../base/clock.js'
import { timeText } from '../base/quantities.js'
import type { Config, ServerConfig } from '../config/config.js'
import type { HealthRegistry } from '../health/registry.js'
import type { Metrics } from '../metrics/metrics.js'
import type { SchedulerOverview } from '../scheduler/scheduler.js'
import { type Html, titled } from './html.js'
import type { RecentLines } from './recent-lines.js'
import type { Trends } from './trends.js'

/** Where the page sends a form that changes a worker, and the token that goes with it. */
export interface WorkerForms {
  form(
    change: 'drain' | 'undrain',
    scheduler: string,
    worker: string,
    identity: string | undefined,
  ): { readonly target: string; readonly token: string }
}

/** Who reads the page. */
export interface Reader {
  /** The address that he used. */
  readonly host?: string | undefined
  /** Undefined if access is not restricted. */
  readonly visitor?: { readonly identity: string } | undefined
}

/** What the page shows. */
export interface StatusPageParts {
  readonly config: Config
  /** The server that the page belongs to. */
  readonly server: ServerConfig
  readonly health: HealthRegistry
  readonly metrics: Metrics
  readonly recent: RecentLines
  readonly trends: Trends
  /** Of the schedulers that have their queue in this process, by name. */
  readonly overviews: () => ReadonlyMap<string, SchedulerOverview>
  readonly clock: Clock
  /** Undefined if the server has no health service. */
  readonly healthPath: string | undefined
  /** The pages about builds; undefined if the server has none. */
  readonly buildsLink: string | undefined
  /** Undefined if the server has no admin service. */
  readonly forms: WorkerForms | undefined
}

/** `14 s ago`, with the time itself as its title. */
export const ago = (atMs: number, nowMs: number): Html =>
  titled(`${timeText(Math.max(0, Math.floor((nowMs - atMs) / 1000) * 1000))} ago`, new Date(atMs).toISOString())
