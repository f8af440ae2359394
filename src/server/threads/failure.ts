import { stackOf } from '../../base/stack.js'
import { type Code, type ErrorDetail, StatusError } from '../../base/status-error.js'

/** An error as it is sent to another thread. */
export interface Failure {
  readonly code: Code
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** What was thrown, if it is not for clients. */
  readonly cause: { readonly message: string; readonly stack: string } | undefined
}

export const failureOf = (thrown: unknown): Failure => {
  const { code, message, details, cause } = StatusError.from(thrown)
  const sent = cause instanceof Error ? { message: cause.message, stack: stackOf(cause) } : undefined
  return { code, message, details, cause: sent }
}

export const errorOf = ({ code, message, details, cause }: Failure): StatusError => {
  if (cause === undefined) return new StatusError(code, message, { details })
  return new StatusError(code, message, { details, cause: Object.assign(new Error(cause.message), cause) })
}
