import type { SimpleSchedulerOptions } from '../../config/config.js'
import type { MatchKind } from './state/requirement.js'

/** What the `simple` scheduler can be told, normalised: every value is present and in milliseconds. */
export interface SimpleSettings {
  readonly supportedPlatformProperties: ReadonlyMap<string, MatchKind>
  /** A worker not heard of for this long is removed. */
  readonly workerTimeoutMs: number
  /** An operation nobody listened to for this long is cancelled. */
  readonly clientActionTimeoutMs: number
  /** How long an attempt may stay in one of its stages before it is killed and tried again; undefined: for ever. */
  readonly maxActionExecutingTimeoutMs: number | undefined
  /** A worker that does not confirm a kill for this long is removed. */
  readonly unacknowledgedKillTimeoutMs: number
  /** Failures beyond this many end an action with the last one; 0 is no retry. */
  readonly maxJobRetries: number
  /** How long a finished operation can still be asked for, unless newer ones take its room. */
  readonly retainCompletedForMs: number
  readonly allocationStrategy: 'least_recently_used' | 'most_recently_used'
  /** How long an action that no connected worker could ever run waits for one; undefined: for ever. */
  readonly noWorkerTimeoutMs: number | undefined
  /** How often 'No workers available' is repeated; undefined: said once. */
  readonly workerMatchLoggingIntervalMs: number | undefined
  /** How often matching runs although nothing has changed; undefined: never. */
  readonly fallbackMatchIntervalMs: number | undefined
  /** Actions waiting for a worker beyond this many are refused. */
  readonly maxQueuedActions: number
  /** Of one instance. */
  readonly maxQueuedActionsPerInstance: number
  /** Places that actions of one instance may have on workers at a time. */
  readonly maxRunningPerInstance: number
  /** Waiting this long counts as much as one step of priority; undefined: it counts nothing. */
  readonly priorityAgeingMs: number | undefined
  /** How long an action that needs much of a worker waits before one is kept free for it; undefined: for ever. */
  readonly holdWorkerAfterMs: number | undefined
  /** How long after the first event workers may bring along what a scheduler before this one started; 0: never. */
  readonly adoptForMs: number
}

/** The settings a configuration asks for. Its zeros and negatives that mean "off" become undefined. */
export const simpleSettings = (options: SimpleSchedulerOptions): SimpleSettings => ({
  supportedPlatformProperties: options.supported_platform_properties,
  workerTimeoutMs: options.worker_timeout_s * 1000,
  clientActionTimeoutMs: options.client_action_timeout_s * 1000,
  maxActionExecutingTimeoutMs: unlessOff(options.max_action_executing_timeout_s),
  unacknowledgedKillTimeoutMs: options.unacknowledged_kill_timeout_s * 1000,
  maxJobRetries: options.max_job_retries,
  retainCompletedForMs: options.retain_completed_for_s * 1000,
  allocationStrategy: options.allocation_strategy,
  noWorkerTimeoutMs: unlessOff(options.no_worker_timeout_s),
  workerMatchLoggingIntervalMs: unlessOff(options.worker_match_logging_interval_s),
  fallbackMatchIntervalMs: unlessOff(options.fallback_match_interval_s),
  maxQueuedActions: options.max_queued_actions,
  maxQueuedActionsPerInstance: orNoLimit(options.max_queued_actions_per_instance),
  maxRunningPerInstance: orNoLimit(options.max_running_actions_per_instance),
  priorityAgeingMs: unlessOff(options.priority_ageing_s),
  holdWorkerAfterMs: unlessOff(options.hold_worker_after_s),
  adoptForMs: options.adopt_attempts_for_s * 1000,
})

const unlessOff = (seconds: number): number | undefined => (seconds > 0 ? seconds * 1000 : undefined)

const orNoLimit = (count: number): number => (count > 0 ? count : Number.POSITIVE_INFINITY)
