import { Code, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** Converts a failed call to another server into a status, prefixed with `backend`. */
export const grpcFailure = (backend: string, thrown: unknown): StatusError => {
  if (!isServiceError(thrown)) return networkFailure(backend, thrown) ?? StatusError.from(thrown)
  // Codes that gRPC does not define become UNKNOWN.
  const code = CODES.has(thrown.code) ? (thrown.code as Code) : Code.UNKNOWN
  return new StatusError(code, `${backend}: ${thrown.details}`, { cause: thrown })
}

/** Whether an established connection was lost during a call. grpc-js shows that only in the text of its status. */
export const isLostCall = (thrown: unknown): boolean =>
  isServiceError(thrown) &&
  thrown.code === Code.UNAVAILABLE &&
  /\b(Connection dropped|ECONNRESET|EPIPE)\b/.test(thrown.details)

const CODES: ReadonlySet<number> = new Set(Object.values(Code).filter((code) => code !== Code.OK))

const isServiceError = (thrown: unknown): thrown is { readonly code: number; readonly details: string } =>
  thrown instanceof Error &&
  'code' in thrown &&
  typeof thrown.code === 'number' &&
  'details' in thrown &&
  !(thrown instanceof StatusError)
