import type { Clock } from '../../base/clock.js'
import { Code, isStatus, StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { statusOf } from '../../proto/error-details.js'
import type { Any } from '../../proto/generated/google.protobuf.js'
import type { ResultInput } from '../../proto/generated/remexec.worker.v1.js'
import type { Digest } from '../../reapi/digest.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { TraceContext, Tracer } from '../../rpc/trace.js'
import type { Store } from '../../store/contract/store.js'
import type { ExecutionSettings, Processes } from './execution.js'
import type { ResultPolicy } from './report.js'

/** One run of one action, as the scheduler asks for it. */
export interface AttemptRequest {
  readonly attemptId: string
  readonly instanceName: string
  /** Of what the worker has of other instances nothing is to be seen in this one. */
  readonly isIsolated?: boolean
  readonly actionDigest: Digest
  /** Its bytes, where the scheduler gave them along. */
  readonly actionBytes?: Buffer | undefined
  readonly properties: readonly PlatformProperty[]
  readonly queuedMs: number | undefined
  /** What it is a piece of, where that is traced. */
  readonly trace?: TraceContext | undefined
  /** What the result is to say of who asked for it. */
  readonly origin?: Any | null
  readonly signal: AbortSignal
  /** Told the stage (remexec.worker.v1 Progress) when it changes; what takes no time has no stage. */
  readonly onProgress: (stage: number) => void
}

/** What every attempt of a worker shares. */
export interface ActionContext {
  readonly workerName: string
  readonly store: Store
  readonly processes: Processes
  readonly execution: ExecutionSettings
  readonly results: ResultPolicy
  readonly maxUploadTimeoutMs: number
  readonly timeoutMessage: string
  readonly clock: Clock
  readonly log: Log
  readonly tracer?: Tracer | undefined
}

/** Exactly one is set; remexec.worker.v1 Result says what each means to the scheduler. */
export type AttemptOutcome = Pick<ResultInput, 'executeResponse' | 'workerError' | 'refused' | 'givenBack'>

/**
 * The outcome of a failure. What is wrong with the action itself is final (INVALID_ARGUMENT, and FAILED_PRECONDITION
 * where blobs are missing); what went wrong on this worker may go right on another.
 */
export const failedOutcome = (thrown: unknown, { signal, attemptId }: AttemptRequest, log: Log): AttemptOutcome => {
  if (signal.aborted) return { workerError: { code: Code.ABORTED, message: 'the attempt was killed' } }
  const error = StatusError.from(thrown)
  if (isStatus(error, 'INVALID_ARGUMENT') || isStatus(error, 'FAILED_PRECONDITION')) {
    return { executeResponse: { status: statusOf(error) } }
  }
  log.warn('an attempt failed on this worker', { attempt: attemptId, error })
  return { workerError: statusOf(error) }
}
