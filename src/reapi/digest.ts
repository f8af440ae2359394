import { StatusError } from '../base/status-error.js'
import { type DigestFunction, digestFunctions } from './digest-function.js'

/** The wire form: `build.bazel.remote.execution.v2.Digest`. */
export interface DigestMessage {
  readonly hash: string
  readonly sizeBytes: number
}

/**
 * A valid digest: lower-case hex of its function's length and a size between 0 and 2^53-1. Parsed once at the edge; what
 * has this type needs no further check. Function, hash and size together are the identity (`key`).
 */
export class Digest {
  readonly function: DigestFunction
  readonly hash: string
  readonly sizeBytes: number
  /** `{hash}-{sizeBytes}` for SHA256, `{function}-{hash}-{sizeBytes}` otherwise: unique over all functions. */
  readonly key: string

  private constructor(digestFunction: DigestFunction, hash: string, sizeBytes: number) {
    this.function = digestFunction
    this.hash = hash
    this.sizeBytes = sizeBytes
    const key = `${hash}-${sizeBytes}`
    this.key = digestFunction === digestFunctions.SHA256 ? key : `${digestFunction.name.toLowerCase()}-${key}`
  }

  /** Rejects with INVALID_ARGUMENT what is not a digest of `digestFunction`; `what` names the field in the message. */
  static parse(message: DigestMessage | null | undefined, digestFunction: DigestFunction, what = 'digest'): Digest {
    if (message == null || message.hash === '') {
      throw new StatusError('INVALID_ARGUMENT', `${what} is missing: expected a ${digestFunction.name} hash and a size`)
    }
    const { hash, sizeBytes } = message
    if (hash.length !== digestFunction.hexLength || !LOWER_HEX.test(hash)) {
      const expected = `${digestFunction.hexLength} lower-case hex digits (${digestFunction.name})`
      throw new StatusError('INVALID_ARGUMENT', `${what}: hash ${quoted(hash)} is not valid, expected ${expected}`)
    }
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw new StatusError('INVALID_ARGUMENT', `${what}: size ${sizeBytes} is not valid, expected 0 to 2^53-1 bytes`)
    }
    return new Digest(digestFunction, hash, sizeBytes)
  }

  /** The digest of bytes at hand. */
  static of(bytes: Uint8Array, digestFunction: DigestFunction): Digest {
    return new Digest(digestFunction, digestFunction.hash(bytes), bytes.length)
  }

  /** The digest of bytes that were hashed while they passed. */
  static ofHash(hasher: { digest(): string }, sizeBytes: number, digestFunction: DigestFunction): Digest {
    return new Digest(digestFunction, hasher.digest(), sizeBytes)
  }

  get isEmpty(): boolean {
    return this.sizeBytes === 0 && this.hash === emptyHash(this.function)
  }

  toMessage(): DigestMessage {
    return { hash: this.hash, sizeBytes: this.sizeBytes }
  }

  toString(): string {
    return this.key
  }
}

/**
 * The function of a request (REAPI: `digest_function`, or when it is unset the one whose hashes have that length).
 * BLAKE3 shares SHA256's length, so an unset field means it only where SHA256 is not served at all.
 */
export const resolveDigestFunction = (
  value: number,
  hash: string | undefined,
  served: readonly DigestFunction[],
): DigestFunction => {
  const names = served.map(({ name }) => name).join(', ')
  if (value !== 0) {
    const named = served.find((candidate) => candidate.value === value)
    if (named !== undefined) return named
    throw new StatusError('INVALID_ARGUMENT', `digest_function ${value} is not served here, expected one of ${names}`)
  }
  const [first] = served
  if (first === undefined) throw new StatusError('INTERNAL', 'no digest function is configured')
  if (hash === undefined) return first
  const fitting = served.filter((candidate) => candidate.hexLength === hash.length)
  const inferred = fitting.find((candidate) => candidate.segment === undefined) ?? fitting[0]
  if (inferred !== undefined) return inferred
  const lengths = served.map(({ name, hexLength }) => `${hexLength} (${name})`).join(', ')
  throw new StatusError('INVALID_ARGUMENT', `hash ${quoted(hash)} is not valid, expected hex digits: ${lengths}`)
}

const LOWER_HEX = /^[0-9a-f]*$/

const quoted = (text: string): string => JSON.stringify(text.length > 140 ? `${text.slice(0, 140)}...` : text)

const emptyHashes = new Map<DigestFunction, string>()

const emptyHash = (digestFunction: DigestFunction): string => {
  const known = emptyHashes.get(digestFunction)
  if (known !== undefined) return known
  const hash = digestFunction.hash(new Uint8Array())
  emptyHashes.set(digestFunction, hash)
  return hash
}
