import { type CodeName, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** The word a reply of failure begins with, as the status it means. Everything else that Redis refuses is our mistake. */
const REPLIES: Readonly<Record<string, CodeName>> = {
  ASK: 'UNAVAILABLE',
  BUSY: 'UNAVAILABLE',
  CLUSTERDOWN: 'UNAVAILABLE',
  GONE: 'UNAVAILABLE',
  LOADING: 'UNAVAILABLE',
  MASTERDOWN: 'UNAVAILABLE',
  // It cannot write its snapshots: as a rule the disk is full.
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

/** Replies without a word of their own, by how they go on. */
const UNNAMED: readonly (readonly [RegExp, CodeName])[] = [
  [/max number of clients/, 'RESOURCE_EXHAUSTED'],
  [/AUTH|invalid password/i, 'UNAUTHENTICATED'],
]

/** What the client library fails with when it has no connection, by the names of its classes. */
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

/** What Redis or its client fails with, as a status. `backend` names it: `Redis at 127.0.0.1:6379`. */
export const redisFailure = (backend: string, thrown: unknown): StatusError => {
  const network = networkFailure(backend, thrown)
  if (network !== undefined) return network
  if (!(thrown instanceof Error)) return StatusError.from(thrown)
  const code = CONNECTION[thrown.constructor.name] ?? replyCode(thrown.message)
  // Of a server that sentinels named the client tells in words of its own what that one said.
  if (code === undefined && thrown.cause instanceof Error) return redisFailure(backend, thrown.cause)
  if (code === undefined) return StatusError.from(thrown)
  return new StatusError(code, `${backend}: ${thrown.message || 'there is no connection'}`, { cause: thrown })
}

/** Whether a reply says that what is under the key has another form. */
export const isWrongType = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.message.startsWith('WRONGTYPE')

const replyCode = (message: string): CodeName | undefined => {
  const [word = ''] = message.split(' ', 1)
  const known = REPLIES[word]
  if (known !== undefined || word !== 'ERR') return known
  return UNNAMED.find(([pattern]) => pattern.test(message))?.[1] ?? 'INTERNAL'
}
