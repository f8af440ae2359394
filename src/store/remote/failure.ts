import { errnoOf, inWords } from '../../base/errno.js'
import { type CodeName, StatusError } from '../../base/status-error.js'

/** Status codes for network errors. None of these errors is caused by the client. */
const CODES: Readonly<Record<string, CodeName>> = {
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EMFILE: 'RESOURCE_EXHAUSTED',
  ENFILE: 'RESOURCE_EXHAUSTED',
  ENOBUFS: 'RESOURCE_EXHAUSTED',
  ENOMEM: 'RESOURCE_EXHAUSTED',
  ETIMEDOUT: 'DEADLINE_EXCEEDED',
}

/** Errno names for a connection that could not be opened or was lost: UNAVAILABLE. */
const NETWORK = /^E(AI_AGAIN|ADDR.*|CONN.*|HOST.*|NET.*|NOTFOUND|PIPE|PROTO)$/

/** Node's errors for a certificate that is not accepted. */
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY))/

/**
 * Converts a failed connection to `backend` into a status; undefined for other errors. Also searches the errors inside
 * one without an errno (`AggregateError` for a host with several addresses, `cause`).
 */
export const networkFailure = (backend: string, thrown: unknown): StatusError | undefined => {
  if (thrown instanceof StatusError) return thrown
  const found = failedCall(thrown)
  // From a proxy on the way.
  if (found instanceof StatusError) return found.withPrefix(backend)
  const word = codeOf(found)
  if (CERTIFICATE.test(word)) {
    return new StatusError('UNAVAILABLE', `${backend}: its certificate is not trusted (${word})`, { cause: thrown })
  }
  const errno = errnoOf(found)
  if (errno === undefined) return undefined
  const code = CODES[errno] ?? (NETWORK.test(errno) ? 'UNAVAILABLE' : undefined)
  return code && new StatusError(code, `${backend}: ${inWords(found)}`, { cause: thrown })
}

/** Errors of an established connection. It is unknown whether the server read what was sent. */
const LOST = new Set<string | undefined>(['ECONNABORTED', 'ECONNRESET', 'EPIPE'])

/** Whether an established connection was lost. */
export const isLostConnection = (thrown: unknown): boolean => LOST.has(errnoOf(failedCall(thrown)))

const failedCall = (thrown: unknown): unknown => {
  if (!(thrown instanceof Error) || thrown instanceof StatusError) return thrown
  if (errnoOf(thrown) !== undefined || CERTIFICATE.test(codeOf(thrown))) return thrown
  const [first] = thrown instanceof AggregateError ? thrown.errors : []
  const behind = first ?? thrown.cause
  return behind === undefined ? thrown : failedCall(behind)
}

const codeOf = (thrown: unknown): string => String((thrown as { readonly code?: unknown } | undefined)?.code ?? '')
