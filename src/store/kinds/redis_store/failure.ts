import { type CodeName, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** Status codes by the first word of an error reply. Other replies mean a bug of this server. */
const REPLIES: Readonly<Record<string, CodeName>> = {
  ASK: 'UNAVAILABLE',
  BUSY: 'UNAVAILABLE',
  CLUSTERDOWN: 'UNAVAILABLE',
  GONE: 'UNAVAILABLE',
  LOADING: 'UNAVAILABLE',
  MASTERDOWN: 'UNAVAILABLE',
  // Redis cannot write its snapshots, mostly because its disk is full.
  MISCONF: 'RESOURCE_EXHAUSTED',
  MOVED: 'UNAVAILABLE',
  NOAUTH: 'UNAUTHENTICATED',
  NOPERM: 'PERMISSION_DENIED',
  NOREPLICAS: 'UNAVAILABLE',
  OOM: 'RESOURCE_EXHAUSTED',
  READONLY: 'UNAVAILABLE',
  TRYAGAIN: 'UNAVAILABLE',
  UNBLOCKED: 'UNAVAILABLE',
  WRONGPASS: 'UNAUTHENTICATED',
}

/** Error replies without a word of their own, by their text. */
const UNNAMED: readonly (readonly [RegExp, CodeName])[] = [
  [/max number of clients/, 'RESOURCE_EXHAUSTED'],
  [/AUTH|invalid password/i, 'UNAUTHENTICATED'],
]

/** Errors of the client library without a connection, by class name. */
const CONNECTION: Readonly<Record<string, CodeName>> = {
  ClientClosedError: 'UNAVAILABLE',
  ClientOfflineError: 'UNAVAILABLE',
  ConnectionTimeoutError: 'DEADLINE_EXCEEDED',
  DisconnectsClientError: 'UNAVAILABLE',
  MaxCommandRedirectionsError: 'UNAVAILABLE',
  RootNodesUnavailableError: 'UNAVAILABLE',
  SocketClosedUnexpectedlyError: 'UNAVAILABLE',
  SocketTimeoutError: 'DEADLINE_EXCEEDED',
  TimeoutError: 'DEADLINE_EXCEEDED',
}

/** Converts an error of Redis or its client into a status, prefixed with `backend`: `Redis at 127.0.0.1:6379`. */
export const redisFailure = (backend: string, thrown: unknown): StatusError => {
  const network = networkFailure(backend, thrown)
  if (network !== undefined) return network
  if (!(thrown instanceof Error)) return StatusError.from(thrown)
  const code = CONNECTION[thrown.constructor.name] ?? replyCode(thrown.message)
  // For a server named by sentinels, the client wraps the original error.
  if (code === undefined && thrown.cause instanceof Error) return redisFailure(backend, thrown.cause)
  if (code === undefined) return StatusError.from(thrown)
  return new StatusError(code, `${backend}: ${thrown.message || 'there is no connection'}`, { cause: thrown })
}

/** Whether a reply means that the value has another form. */
export const isWrongType = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message.startsWith('WRONGTYPE')

const replyCode = (message: string): CodeName | undefined => {
  const [word = ''] = message.split(' ', 1)
  const known = REPLIES[word]
  if (known !== undefined || word !== 'ERR') return known
  return UNNAMED.find(([pattern]) => pattern.test(message))?.[1] ?? 'INTERNAL'
}
