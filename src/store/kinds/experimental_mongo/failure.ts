import type { MongoBulkWriteError } from 'mongodb'
import { type CodeName, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** What the driver fails with when it has no connection or no answer, by the names of its classes. */
const BY_NAME: Readonly<Record<string, CodeName>> = {
  MongoNetworkError: 'UNAVAILABLE',
  MongoNetworkTimeoutError: 'DEADLINE_EXCEEDED',
  MongoNotConnectedError: 'UNAVAILABLE',
  MongoOperationTimeoutError: 'DEADLINE_EXCEEDED',
  MongoPoolClearedError: 'UNAVAILABLE',
  MongoPoolClosedError: 'UNAVAILABLE',
  MongoServerClosedError: 'UNAVAILABLE',
  MongoServerSelectionError: 'UNAVAILABLE',
  MongoTopologyClosedError: 'UNAVAILABLE',
  MongoClientClosedError: 'UNAVAILABLE',
}

/** Numbers of the server's own errors (error_codes.yml of MongoDB). */
const BY_NUMBER: Readonly<Record<number, CodeName>> = {
  1: 'UNAVAILABLE', // InternalError: a fault of the server, such as a disk it cannot write to
  13: 'PERMISSION_DENIED', // Unauthorized
  18: 'UNAUTHENTICATED', // AuthenticationFailed
  43: 'UNAVAILABLE', // CursorNotFound: it forgets one that nobody asked for ten minutes
  50: 'DEADLINE_EXCEEDED', // MaxTimeMSExpired
  64: 'UNAVAILABLE', // WriteConcernTimeout
  91: 'UNAVAILABLE', // ShutdownInProgress
  100: 'UNAVAILABLE', // UnsatisfiableWriteConcern
  112: 'ABORTED', // WriteConflict
  189: 'UNAVAILABLE', // PrimarySteppedDown
  237: 'UNAVAILABLE', // CursorKilled
  391: 'UNAUTHENTICATED', // ReauthenticationRequired
  10107: 'UNAVAILABLE', // NotWritablePrimary
  11000: 'ABORTED', // DuplicateKey: two began to write it at a time
  11600: 'UNAVAILABLE', // InterruptedAtShutdown
  11602: 'UNAVAILABLE', // InterruptedDueToReplStateChange
  13435: 'UNAVAILABLE', // NotPrimaryNoSecondaryOk
  13436: 'UNAVAILABLE', // NotPrimaryOrSecondary
  14031: 'RESOURCE_EXHAUSTED', // OutOfDiskSpace
}

export const DUPLICATE_KEY = 11000

/** What MongoDB or its driver fails with, as a status. `backend` names it. What nobody knows is our mistake. */
export const mongoFailure = (backend: string, thrown: unknown): StatusError => {
  if (thrown instanceof StatusError || !(thrown instanceof Error)) return StatusError.from(thrown)
  if (thrown.name === 'AbortError') return StatusError.from(thrown)
  const network = networkFailure(backend, causeOf(thrown))
  if (network !== undefined) return network
  const number = numberOf(thrown)
  const code = (number === undefined ? undefined : BY_NUMBER[number]) ?? BY_NAME[thrown.name]
  if (code !== undefined) return new StatusError(code, `${backend}: ${thrown.name}${told(number)}`, { cause: thrown })
  return new StatusError('INTERNAL', `${backend} refused: ${thrown.name}${told(number)}`, { cause: thrown })
}

/**
 * Of many documents at a time DUPLICATE_KEY only where nothing else was wrong with any of them; where the command failed as a
 * whole, its own.
 */
export const numberOf = (thrown: unknown): number | undefined => {
  const { code, writeErrors, result } = (thrown ?? {}) as Partial<MongoBulkWriteError>
  const errors = [result?.getWriteConcernError?.(), writeErrors].flat()
  const numbers = errors.flatMap((error) => (typeof error?.code === 'number' ? [error.code] : []))
  return (
    numbers.find((number) => number !== DUPLICATE_KEY) ?? numbers[0] ?? (typeof code === 'number' ? code : undefined)
  )
}

/** No server was found: why that is says the first of them. */
const causeOf = (thrown: Error): unknown => {
  const servers = (thrown as { readonly reason?: { readonly servers?: Map<string, { error: unknown }> } }).reason
    ?.servers
  const [first] = servers === undefined ? [] : [...servers.values()]
  return first?.error ?? thrown
}

const told = (number: number | undefined): string => (number === undefined ? '' : ` ${number}`)
