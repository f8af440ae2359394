import type { Readable } from 'node:stream'
import type { CodeName, StatusError } from '../../base/status-error.js'

/**
 * What a provider's library offers of one bucket (a container, a collection), each method one request to it: neither tried
 * again nor bounded here. They end when their signal aborts. What the library throws passes as it is; `failureOf` tells what
 * it means.
 */
export interface Bucket {
  /** For operators: `S3 bucket builds`. */
  readonly name: string
  readonly limits: BucketLimits

  /** Undefined when there is no such object. */
  stat(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined>

  /** `stat` of up to some hundred objects by one request, in their order, where the backend knows such a thing. */
  statAll?(keys: readonly string[], signal: AbortSignal): Promise<readonly (ObjectFacts | undefined)[]>

  /** Some of the objects whose keys begin so, where the provider is asked for such a thing; `next` is where to go on. */
  list?(prefix: string, from: string | undefined, signal: AbortSignal): Promise<ObjectList>

  /** Undefined when there is no such object; an offset at or behind its end fails with OUT_OF_RANGE. */
  read(key: string, part: ObjectPart, signal: AbortSignal): Promise<OpenObject | undefined>

  /**
   * Writes a whole object. With `isNew` it is written only where there is none, and the answer is whether it was: what is there
   * or on its way already stays.
   */
  write(key: string, bytes: Buffer, isNew: boolean, signal: AbortSignal): Promise<boolean>

  /** Begins an object that comes in parts: nobody sees it before it is complete. */
  begin(key: string, signal: AbortSignal): Promise<PartedUpload>

  /** Absent is fine. */
  remove(key: string, signal: AbortSignal): Promise<void>

  /** Resolves when the bucket can be reached with these credentials. */
  ping(signal: AbortSignal): Promise<void>

  failureOf(thrown: unknown): StatusError

  /** Ends every connection. */
  close(): void
}

export interface BucketLimits {
  /** The length of every part but the last one. */
  readonly partBytes: number
  /** Objects of up to so many bytes are written whole; that is one part at most. */
  readonly wholeBytes: number
  readonly maxParts: number
  /** Each part has to be there before the next one is sent. */
  readonly isSequential: boolean
}

export interface ObjectFacts {
  readonly sizeBytes: number
  readonly writtenAtMs: number
  /** Changes whenever the object is written. */
  readonly version: string
}

export interface ObjectList {
  readonly objects: readonly (ObjectFacts & { readonly key: string })[]
  readonly next: string | undefined
}

export interface ObjectPart {
  readonly offset: number
  /** Where it ends, at most: Infinity for all there is. */
  readonly end: number
  /** Only bytes of this version are wanted: those of another one fail with ABORTED. */
  readonly version: string | undefined
}

/** The bytes from the offset asked for up to `end`. */
export interface OpenObject extends ObjectFacts {
  readonly body: Readable
  readonly end: number
}

/** A part on its way into a bucket; `index` counts from 0. */
export interface ObjectChunk {
  readonly index: number
  readonly bytes: Buffer
  readonly isLast: boolean
}

export interface PartedUpload {
  /** A part that is sent again takes the place of what came of it before. */
  send(part: ObjectChunk, signal: AbortSignal): Promise<void>
  /** The object is there once this resolved. */
  complete(signal: AbortSignal): Promise<void>
  /** Gives up what was sent. Nothing to give up is fine. */
  abort(signal: AbortSignal): Promise<void>
}

/** What a provider said no with: the HTTP status and its own word for why. */
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
  // Azure
  ContainerNotFound: 'FAILED_PRECONDITION',
  AuthenticationFailed: 'UNAUTHENTICATED',
  InvalidAuthenticationInfo: 'UNAUTHENTICATED',
  CredentialUnavailableError: 'UNAUTHENTICATED',
  AggregateAuthenticationError: 'UNAUTHENTICATED',
}

/** What an answer means for who asked; nothing of it is a client's fault. */
export const codeOfRefusal = ({ status = 0, word }: Refusal): CodeName => {
  const named = BY_WORD[word]
  if (named !== undefined) return named
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'PERMISSION_DENIED'
  if (status === 404) return 'NOT_FOUND'
  if (status === 409 || status === 412) return 'ABORTED'
  if (status === 416) return 'OUT_OF_RANGE'
  if (status === 507) return 'RESOURCE_EXHAUSTED'
  // What is asked too much of says so by 429 or 503: later it has room again.
  if (status === 408 || status === 429 || status >= 500) return 'UNAVAILABLE'
  return status === 0 ? 'UNKNOWN' : 'FAILED_PRECONDITION'
}
