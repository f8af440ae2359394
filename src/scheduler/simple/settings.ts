import type { SimpleSchedulerOptions } from '../../config/config.js'
import type { SizeSettings } from './sizes/learned-sizes.js'
import type { MatchKind } from './state/requirement.js'

/** Settings of the `simple` scheduler, normalised: every value is present, times are in milliseconds. */
export interface SimpleSettings {
  readonly supportedPlatformProperties: ReadonlyMap<string, MatchKind>
  /** A worker that is silent for this long is removed. */
  readonly workerTimeoutMs: number
  /** An operation without a waiting client for this long is cancelled. */
  readonly clientActionTimeoutMs: number
  /** How long an attempt may stay in one stage before it is killed and retried; undefined: no limit. */
  readonly maxActionExecutingTimeoutMs: number | undefined
  /** A worker that does not confirm a kill for this long is removed. */
  readonly unacknowledgedKillTimeoutMs: number
  /** After more failures than this an action ends with the last error; 0 turns retries off. */
  readonly maxJobRetries: number
  /** After so many failures in a row of different actions by its own fault a worker is set aside; 0: never. */
  readonly workerFailuresInARow: number
  /** How long a worker is set aside the first time. */
  readonly workerBackoffMs: number
  /** How long a finished operation is retained for clients, unless newer ones need its memory. */
  readonly retainCompletedForMs: number
  readonly allocationStrategy: 'least_recently_used' | 'most_recently_used'
  /** How long an action waits while no connected worker can ever run it; undefined: no limit. */
  readonly noWorkerTimeoutMs: number | undefined
  /** Interval at which 'No workers available' is repeated; undefined: logged once. */
  readonly workerMatchLoggingIntervalMs: number | undefined
  /** Interval of matching without an event; undefined: never. */
  readonly fallbackMatchIntervalMs: number | undefined
  /** Above this number of queued actions, new ones are rejected. */
  readonly maxQueuedActions: number
  /** The same limit for one instance. */
  readonly maxQueuedActionsPerInstance: number
  /** Attempts that one instance may have on workers at a time. */
  readonly maxRunningPerInstance: number
  /** Waiting this long counts as one step of priority; undefined turns ageing off. */
  readonly priorityAgeingMs: number | undefined
  /** How long an action with `minimum` properties waits before a worker is held for it; undefined: never held. */
  readonly holdWorkerAfterMs: number | undefined
  /** How long an action waits for a worker that holds something warm for it while others have room; 0: not at all. */
  readonly warmWorkerWaitMs: number
  readonly learnedSizes: SizeSettings
  /** How long after the first event workers may bring attempts of a previous scheduler process; 0: never. */
  readonly adoptForMs: number
}

/** Converts the options of a configuration. Zero and negative values that mean "off" become undefined. */
export const simpleSettings = (
  options: Omit<SimpleSchedulerOptions, 'experimental_backend' | 'peers'>,
): SimpleSettings => ({
  supportedPlatformProperties: options.supported_platform_properties,
  workerTimeoutMs: options.worker_timeout_s * 1000,
  clientActionTimeoutMs: options.client_action_timeout_s * 1000,
  maxActionExecutingTimeoutMs: unlessOff(options.max_action_executing_timeout_s),
  unacknowledgedKillTimeoutMs: options.unacknowledged_kill_timeout_s * 1000,
  maxJobRetries: options.max_job_retries,
  workerFailuresInARow: options.worker_failures_in_a_row,
  workerBackoffMs: options.worker_backoff_s * 1000,
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
  warmWorkerWaitMs: options.warm_worker_wait_ms,
  learnedSizes: {
    use: options.learned_sizes.use,
    memory: options.learned_sizes.memory_property,
    cpu: options.learned_sizes.cpu_property,
  },
  adoptForMs: options.adopt_attempts_for_s * 1000,
})

const unlessOff = (seconds: number): number | undefined => (seconds > 0 ? seconds * 1000 : undefined)

const orNoLimit = (count: number): number => (count > 0 ? count : Number.POSITIVE_INFINITY)
