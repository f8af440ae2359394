import { type Log, silentLog } from './log.js'
import { StatusError } from './status-error.js'
import type { Span } from './trace.js'

/** What travels with one RPC (or one piece of background work) through every room. Passed, never ambient. */
export interface Call {
  /** Aborted when the client cancelled, its deadline passed, or the work is no longer wanted. */
  readonly signal: AbortSignal
  readonly instanceName: string
  readonly log: Log
  /** What the client sent beside its request, lower-case names; nothing where nobody outside asked. */
  readonly metadata?: ReadonlyMap<string, string | Buffer> | undefined
  /** What this is a piece of, where that is traced. */
  readonly span?: Span | undefined
}

/** A call that nobody outside made: start-up, health probes, tests. */
export const internalCall = (parts: Partial<Call> = {}): Call => ({
  signal: parts.signal ?? new AbortController().signal,
  instanceName: parts.instanceName ?? '',
  log: parts.log ?? silentLog,
  span: parts.span,
})

/** Why a call was given up: the signal's own reason when that is a status (a deadline), else CANCELLED. */
export const cancellation = (signal: AbortSignal | undefined): StatusError =>
  signal?.reason instanceof StatusError
    ? signal.reason
    : new StatusError('CANCELLED', 'the call was cancelled', { cause: signal?.reason })
