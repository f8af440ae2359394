import type { MongoBulkWriteError } from 'mongodb'
import { type CodeName, StatusError } from '../../../base/status-error.js'
import { networkFailure } from '../../remote/failure.js'

/** Errors of the driver without a connection or an answer, by class name. */
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

/** Error numbers of the server (error_codes.yml of MongoDB). */
const BY_NUMBER: Readonly<Record<number, CodeName>> = {
  1: 'UNAVAILABLE', // InternalError: a fault of the server, such as a disk it cannot write to
  13: 'PERMISSION_DENIED', // Unauthorized
  18: 'UNAUTHENTICATED', // AuthenticationFailed
  43: 'UNAVAILABLE', // CursorNotFound: the server drops a cursor after ten idle minutes
  50: 'DEADLINE_EXCEEDED', // MaxTimeMSExpired
  64: 'UNAVAILABLE', // WriteConcernTimeout
  91: 'UNAVAILABLE', // ShutdownInProgress
  100: 'UNAVAILABLE', // UnsatisfiableWriteConcern
  112: 'ABORTED', // WriteConflict
  189: 'UNAVAILABLE', // PrimarySteppedDown
  237: 'UNAVAILABLE', // CursorKilled
  391: 'UNAUTHENTICATED', // ReauthenticationRequired
  10107: 'UNAVAILABLE', // NotWritablePrimary
  11000: 'ABORTED', // DuplicateKey: two clients began to write it at the same time
  11600: 'UNAVAILABLE', // InterruptedAtShutdown
  11602: 'UNAVAILABLE', // InterruptedDueToReplStateChange
  13435: 'UNAVAILABLE', // NotPrimaryNoSecondaryOk
  13436: 'UNAVAILABLE', // NotPrimaryOrSecondary
  14031: 'RESOURCE_EXHAUSTED', // OutOfDiskSpace
}

export const DUPLICATE_KEY = 11000

/** Converts an error of MongoDB or its driver into a status, prefixed with `backend`. Unknown errors are INTERNAL. */
export const mongoFailure = (backend: string, thrown: unknown): StatusError => {
  if (thrown instanceof StatusError || !(thrown instanceof Error)) return StatusError.from(thrown)
  if (thrown.name === 'AbortError') return StatusError.from(thrown)
  const network = networkFailure(backend, causeOf(thrown))
  if (network !== undefined) return network
  const number = numberOf(thrown)
  const code = (number === undefined ? undefined : BY_NUMBER[number]) ?? BY_NAME[thrown.name]
  if (code !== undefined)
    return new StatusError(code, `${backend}: ${thrown.name}${numberText(number)}`, { cause: thrown })
  return new StatusError('INTERNAL', `${backend} refused: ${thrown.name}${numberText(number)}`, { cause: thrown })
}

/**
 * The error number. For a bulk write it is DUPLICATE_KEY only if no document had another error. If the whole command
 * failed, it is the number of the command.
 */
export const numberOf = (thrown: unknown): number | undefined => {
  const { code, writeErrors, result } = (thrown ?? {}) as Partial<MongoBulkWriteError>
  const errors = [result?.getWriteConcernError?.(), writeErrors].flat()
  const numbers = errors.flatMap((error) => (typeof error?.code === 'number' ? [error.code] : []))
  return (
    numbers.find((number) => number !== DUPLICATE_KEY) ?? numbers[0] ?? (typeof code === 'number' ? code : undefined)
  )
}

/** No server was found: the error of the first server says why. */
const causeOf = (thrown: Error): unknown => {
  const servers = (thrown as { readonly reason?: { readonly servers?: Map<string, { error: unknown }> } }).reason
    ?.servers
  const [first] = servers === undefined ? [] : [...servers.values()]
  return first?.error ?? thrown
}

const numberText = (number: number | undefined): string => (number === undefined ? '' : ` ${number}`)
