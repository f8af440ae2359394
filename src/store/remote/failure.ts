import { errnoOf, inWords } from '../../base/errno.js'
import { type CodeName, StatusError } from '../../base/status-error.js'

/** What the network says, as the status it means for who asked: nothing of it is the client's fault. */
const CODES: Readonly<Record<string, CodeName>> = {
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EMFILE: 'RESOURCE_EXHAUSTED',
  ENFILE: 'RESOURCE_EXHAUSTED',
  ENOBUFS: 'RESOURCE_EXHAUSTED',
  ENOMEM: 'RESOURCE_EXHAUSTED',
  ETIMEDOUT: 'DEADLINE_EXCEEDED',
}

/** A connection that could not be made or was lost is UNAVAILABLE; Node has an errno for each way that happens. */
const NETWORK = /^E(AI_AGAIN|ADDR.*|CONN.*|HOST.*|NET.*|NOTFOUND|PIPE|PROTO)$/

/** What Node says of a certificate that it does not take: who is there is not who was meant. */
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY))/

/**
 * A failure of a connection to `backend` as a status, undefined of what is none. Looks behind errors that name no errno of
 * their own (`AggregateError` of a host with several addresses, `cause`).
 */
export const networkFailure = (backend: string, thrown: unknown): StatusError | undefined => {
  if (thrown instanceof StatusError) return thrown
  const found = failedCall(thrown)
  const word = codeOf(found)
  if (CERTIFICATE.test(word)) {
    return new StatusError('UNAVAILABLE', `${backend}: its certificate is not trusted (${word})`, { cause: thrown })
  }
  const errno = errnoOf(found)
  if (errno === undefined) return undefined
  const code = CODES[errno] ?? (NETWORK.test(errno) ? 'UNAVAILABLE' : undefined)
  return code && new StatusError(code, `${backend}: ${inWords(found)}`, { cause: thrown })
}

/** A connection that stood: nobody knows whether what was sent by it was read. */
const LOST = new Set<string | undefined>(['ECONNABORTED', 'ECONNRESET', 'EPIPE'])

/** Whether a connection was lost that had been made. */
export const isLostConnection = (thrown: unknown): boolean => LOST.has(errnoOf(failedCall(thrown)))

const failedCall = (thrown: unknown): unknown => {
  if (!(thrown instanceof Error) || errnoOf(thrown) !== undefined || CERTIFICATE.test(codeOf(thrown))) return thrown
  const [first] = thrown instanceof AggregateError ? thrown.errors : []
  const behind = first ?? thrown.cause
  return behind === undefined ? thrown : failedCall(behind)
}

const codeOf = (thrown: unknown): string => String((thrown as { readonly code?: unknown } | undefined)?.code ?? '')
