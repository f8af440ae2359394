import type { Readable } from 'node:stream'
import type { CodeName, StatusError } from '../../base/status-error.js'

/**
 * One bucket (or container, or collection) of a provider. Each method sends one request, without retries or a bound on
 * concurrency, and ends when its signal aborts. Errors of the client library pass unchanged; `failureOf` converts them.
 */
export interface Bucket {
  /** For operators: `S3 bucket builds`. */
  readonly name: string
  readonly limits: BucketLimits

  /** Undefined when the object does not exist. */
  stat(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined>

  /** `stat` of up to a few hundred objects in one request, in order. Absent if the backend has no such request. */
  statAll?(keys: readonly string[], signal: AbortSignal): Promise<readonly (ObjectFacts | undefined)[]>

  /**
   * A page of the objects with this key prefix; `next` is where to continue. Absent if the provider has no such
   * request.
   */
  list?(prefix: string, from: string | undefined, signal: AbortSignal): Promise<ObjectList>

  /** Undefined when the object does not exist. An offset at or after its end fails with OUT_OF_RANGE. */
  read(key: string, part: ObjectPart, signal: AbortSignal): Promise<OpenObject | undefined>

  /**
   * Writes a whole object. With `isNew` an existing object, or one being written, stays, and the result is whether this
   * request wrote it.
   */
  write(key: string, bytes: Buffer, isNew: boolean, signal: AbortSignal): Promise<boolean>

  /** Begins an object that is uploaded in parts. It is invisible until complete. */
  begin(key: string, signal: AbortSignal): Promise<PartedUpload>

  /**
   * Makes this version of an object as young as if it were written now, without sending its bytes. False if the object
   * does not exist; another version stays as it is. Absent if objects do not age here.
   */
  refresh?(key: string, facts: ObjectFacts, signal: AbortSignal): Promise<boolean>

  /** Succeeds if the object does not exist. */
  remove(key: string, signal: AbortSignal): Promise<void>

  /** Resolves when the bucket can be reached with these credentials. */
  ping(signal: AbortSignal): Promise<void>

  failureOf(thrown: unknown): StatusError

  /** Closes all connections. */
  close(): void
}

/** A bucket of which an object can be a lock. */
export interface VersionedBucket extends Bucket {
  /**
   * Writes a whole object if it has this version, or if there is none and `version` is undefined. Resolves with its new version;
   * undefined if the condition does not hold, or another write is under way. A server that heeds no conditions writes always.
   */
  writeIf(key: string, bytes: Buffer, version: string | undefined, signal: AbortSignal): Promise<string | undefined>
}

export interface BucketLimits {
  /** The length of every part but the last one. */
  readonly partBytes: number
  /** Objects up to this size are written in one request. At most one part. */
  readonly wholeBytes: number
  readonly maxParts: number
  /** Each part must have arrived before the next one is sent. */
  readonly isSequential: boolean
}

export interface ObjectFacts {
  readonly sizeBytes: number
  readonly writtenAtMs: number
  /** Changes with every write of the object. */
  readonly version: string
}

export interface ObjectList {
  readonly objects: readonly (ObjectFacts & { readonly key: string })[]
  readonly next: string | undefined
}

export interface ObjectPart {
  readonly offset: number
  /** The end of the range; Infinity for the end of the object. */
  readonly end: number
  /** If given, another version of the object fails with ABORTED. */
  readonly version: string | undefined
}

/** The bytes from the requested offset to `end`. */
export interface OpenObject extends ObjectFacts {
  readonly body: Readable
  readonly end: number
}

/** A part of an upload; `index` counts from 0. */
export interface ObjectChunk {
  readonly index: number
  readonly bytes: Buffer
  readonly isLast: boolean
}

export interface PartedUpload {
  /** Sends a part. A repeated part replaces the earlier attempt. */
  send(part: ObjectChunk, signal: AbortSignal): Promise<void>
  /** Resolves when the object is visible. */
  complete(signal: AbortSignal): Promise<void>
  /** Discards the upload. Succeeds if there is nothing to discard. */
  abort(signal: AbortSignal): Promise<void>
}

/** The error response of a provider: HTTP status and error name. */
export interface Refusal {
  readonly status: number | undefined
  readonly word: string
}

const BY_WORD: Readonly<Record<string, CodeName>> = {
  // S3
  NoSuchBucket: 'FAILED_PRECONDITION',
  ExpiredToken: 'UNAUTHENTICATED',
  ExpiredTokenException: 'UNAUTHENTICATED',
  InvalidToken: 'UNAUTHENTICATED',
  TokenRefreshRequired: 'UNAUTHENTICATED',
  InvalidAccessKeyId: 'UNAUTHENTICATED',
  SignatureDoesNotMatch: 'UNAUTHENTICATED',
  RequestExpired: 'UNAUTHENTICATED',
  RequestTimeTooSkewed: 'UNAUTHENTICATED',
  CredentialsProviderError: 'UNAUTHENTICATED',
  RequestTimeout: 'UNAVAILABLE',
  QuotaExceeded: 'RESOURCE_EXHAUSTED',
  NotImplemented: 'UNIMPLEMENTED',
  // Azure
  ContainerNotFound: 'FAILED_PRECONDITION',
  AuthenticationFailed: 'UNAUTHENTICATED',
  InvalidAuthenticationInfo: 'UNAUTHENTICATED',
  CredentialUnavailableError: 'UNAUTHENTICATED',
  AggregateAuthenticationError: 'UNAUTHENTICATED',
}

/** Converts an error response into a status code. None of these errors is caused by the client. */
export const codeOfRefusal = ({ status = 0, word }: Refusal): CodeName => {
  const named = BY_WORD[word]
  if (named !== undefined) return named
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'PERMISSION_DENIED'
  if (status === 404) return 'NOT_FOUND'
  if (status === 409 || status === 412) return 'ABORTED'
  if (status === 416) return 'OUT_OF_RANGE'
  if (status === 507) return 'RESOURCE_EXHAUSTED'
  // 429 and 503 mean overload, which passes.
  if (status === 408 || status === 429 || status >= 500) return 'UNAVAILABLE'
  return status === 0 ? 'UNKNOWN' : 'FAILED_PRECONDITION'
}
