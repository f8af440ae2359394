import { Code, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** What a call to another server fails with: its status, told as that server's. `backend` names it. */
export const grpcFailure = (backend: string, thrown: unknown): StatusError => {
  if (!isServiceError(thrown)) return networkFailure(backend, thrown) ?? StatusError.from(thrown)
  // A server must not answer with a code of its own making.
  const code = CODES.has(thrown.code) ? (thrown.code as Code) : Code.UNKNOWN
  return new StatusError(code, `${backend}: ${thrown.details}`, { cause: thrown })
}

/** Whether a connection that stood was lost under a call: grpc-js says so in the words of its status. */
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
