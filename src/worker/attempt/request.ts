import type { Clock } from '../../base/clock.js'
import { Code, StatusError } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { statusOf } from '../../proto/error-details.js'
import type { Any } from '../../proto/generated/google.protobuf.js'
import type { ResultInput } from '../../proto/generated/remexec.worker.v1.js'
import type { Digest } from '../../reapi/digest.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { TraceContext, Tracer } from '../../rpc/trace.js'
import type { Execution, ExecutionSettings, Processes } from './execution.js'
import { faultOf } from './fault.js'
import type { ResultPolicy } from './report.js'

/** One run of one action, as requested by the scheduler. */
export interface AttemptRequest {
  readonly attemptId: string
  readonly instanceName: string
  /** If true, the attempt must not see anything that the worker keeps for other instances. */
  readonly isIsolated?: boolean
  /** Of the caller; empty for a trusted one. The attempt gets nothing that attempts of other scopes have had in their hands. */
  readonly scope?: string
  readonly actionDigest: Digest
  /** The encoded Action, if the scheduler sent it. */
  readonly actionBytes?: Buffer | undefined
  readonly properties: readonly PlatformProperty[]
  readonly queuedMs: number | undefined
  /** The parent span, if the action is traced. */
  readonly trace?: TraceContext | undefined
  /** The origin to write into the result. */
  readonly origin?: Any | null
  readonly signal: AbortSignal
  /** Called with each new stage (remexec.worker.v1 Progress). Stages that take no time are not reported. */
  readonly onProgress: (stage: number) => void
  /** Called with what the attempt waits for before it begins, in words; '' when it waits no more. */
  readonly onWait?: (what: string) => void
  /** Called with each run of the command before it begins; an attempt has a second one if the first wrote to its inputs. */
  readonly onExecution?: (execution: Pick<Execution, 'printedSoFar'>) => void
}

/** The settings and services that all attempts of a worker share. */
export interface ActionContext {
  readonly workerName: string
  readonly store: Store
  readonly processes: Processes
  readonly execution: ExecutionSettings
  readonly results: ResultPolicy
  readonly maxUploadTimeoutMs: number
  readonly timeoutMessage: string
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly tracer?: Tracer | undefined
}

/** Exactly one is set. remexec.worker.v1 Result describes what each means to the scheduler. */
export type AttemptOutcome = Pick<ResultInput, 'executeResponse' | 'workerError' | 'refused' | 'givenBack' | 'confined'>

/**
 * The outcome of a failure. An error of the action itself is final (`faultOf`). Any other failure may be specific to this
 * worker, so the action may be retried elsewhere.
 */
export const failedOutcome = (thrown: unknown, { signal, attemptId }: AttemptRequest, log: Log): AttemptOutcome => {
  if (signal.aborted) return { workerError: { code: Code.ABORTED, message: 'the attempt was killed' } }
  const error = StatusError.from(thrown)
  if (faultOf(error) === 'action') {
    return { executeResponse: { status: statusOf(error) } }
  }
  log.warn('an attempt failed on this worker', { attempt: attemptId, error })
  return { workerError: statusOf(error) }
}
