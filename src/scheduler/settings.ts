import type { MatchKind } from './requirement.js'

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
  /** How long a finished operation can still be asked for. */
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
  /** Finished operations beyond this many are forgotten, oldest first, before their time. */
  readonly maxRetainedOperations: number
}

export const defaultSettings: SimpleSettings = {
  supportedPlatformProperties: new Map(),
  workerTimeoutMs: 5_000,
  clientActionTimeoutMs: 60_000,
  maxActionExecutingTimeoutMs: undefined,
  unacknowledgedKillTimeoutMs: 60_000,
  maxJobRetries: 3,
  retainCompletedForMs: 60_000,
  allocationStrategy: 'least_recently_used',
  noWorkerTimeoutMs: 60_000,
  workerMatchLoggingIntervalMs: 10_000,
  fallbackMatchIntervalMs: 5_000,
  maxQueuedActions: 100_000,
  maxRetainedOperations: 10_000,
}
