/** gRPC status codes by name (google.rpc.Code). */
export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const

export type CodeName = keyof typeof Code
export type Code = (typeof Code)[CodeName]

/** An encoded `google.protobuf.Any`, as in `google.rpc.Status.details`. */
export interface ErrorDetail {
  readonly typeUrl: string
  readonly value: Uint8Array
}

export interface StatusErrorOptions {
  readonly details?: readonly ErrorDetail[]
  readonly cause?: unknown
}

/**
 * The only error type of the service: a gRPC status. It is thrown where a failure is understood, and sent to the client
 * in one place. The message reaches clients: it says what was attempted, with which value, and what was expected. It
 * contains no local paths.
 */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly code: Code
  readonly details: readonly ErrorDetail[]

  /** Errors for absent or cancelled things are frequent, so they have no stack trace. */
  constructor(code: CodeName | Code, message: string, options: StatusErrorOptions = {}) {
    const number = typeof code === 'number' ? code : Code[code]
    const depth = Error.stackTraceLimit
    if (number === Code.NOT_FOUND || number === Code.CANCELLED) Error.stackTraceLimit = 0
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = depth
    this.code = number
    this.details = options.details ?? []
  }

  /** Converts anything thrown into a StatusError. An abort becomes CANCELLED, an unknown error INTERNAL. */
  static from(thrown: unknown): StatusError {
    if (thrown instanceof StatusError) return thrown
    if (isAbort(thrown)) return new StatusError('CANCELLED', 'the call was cancelled', { cause: thrown })
    // The text of an unknown error may contain paths and secrets. It goes to the log as `cause`, not to the client.
    return new StatusError('INTERNAL', 'internal error', { cause: thrown })
  }

  /** The same error with more context: code and details stay, the message gets a prefix. */
  withPrefix(prefix: string): StatusError {
    return new StatusError(this.code, `${prefix}: ${this.message}`, { details: this.details, cause: this })
  }
}

export const codeName = (code: number): string =>
  Object.entries(Code).find(([, value]) => value === code)?.[0] ?? `code ${code}`

export const isStatus = (thrown: unknown, code: CodeName): thrown is StatusError =>
  thrown instanceof StatusError && thrown.code === Code[code]

/** What a promise resolves with; undefined if it rejects with NOT_FOUND. */
export const orAbsent = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

const isAbort = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown.name === 'AbortError' || ('code' in thrown && thrown.code === 'ABORT_ERR'))
