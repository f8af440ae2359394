import type { FaultReason } from './fault.js'

/** Why a process ended. */
export type EndReason =
  | FaultReason
  /** It had no request for long. */
  | 'idle'
  /** It answered as many as one process may. */
  | 'requests'
  /** Another needed its place. */
  | 'room'
  /** It had the most memory when there was too much. */
  | 'memory'
  /** An input of its root was changed. */
  | 'changed'
  /** Its request ended without an answer: a timeout, a limit, nobody waits any more. */
  | 'request'
  /** The worker stops. */
  | 'closed'

/** Why a command that asked for a persistent worker ran without one. */
export type FallbackReason =
  | FaultReason
  /** Its properties, command line or inputs are not those of an action for a persistent worker. */
  | 'unsuited'
  /** All processes had requests. */
  | 'full'
  /** It writes to its inputs. */
  | 'writer'

const END_REASONS = [
  ...(['start', 'died', 'garbage', 'stopped', 'late', 'limits', 'idle', 'requests', 'room'] as const),
  ...(['memory', 'changed', 'request', 'closed'] as const),
] satisfies readonly EndReason[]

const FALLBACK_REASONS = [
  ...(['start', 'died', 'garbage', 'stopped', 'late', 'limits', 'unsuited', 'full', 'writer'] as const),
] satisfies readonly FallbackReason[]

/** What became of persistent workers since the worker started. */
export interface Counts {
  /** Requests to a process that had others before. */
  reused: number
  /** Processes. */
  started: number
  /** Requests that were made again in a new process. */
  retried: number
  readonly ends: Record<EndReason, number>
  readonly fallbacks: Record<FallbackReason, number>
}

const zeros = <T extends string>(names: readonly T[]): Record<T, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<T, number>

export const newCounts = (): Counts => ({
  ...{ reused: 0, started: 0, retried: 0 },
  ...{ ends: zeros(END_REASONS), fallbacks: zeros(FALLBACK_REASONS) },
})
