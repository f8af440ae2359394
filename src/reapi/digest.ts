import { createHash } from 'node:crypto'
import { StatusError } from '../base/status-error.js'
import { type DigestFunction, type DigestFunctionName, digestFunctions } from './digest-function.js'

/** The wire form: `build.bazel.remote.execution.v2.Digest`. */
export interface DigestMessage {
  readonly hash: string
  readonly sizeBytes: number
}

interface Apart {
  readonly content: Digest
  readonly instanceName: string
}

/**
 * A valid digest: lower-case hex of its function's length and a size between 0 and 2^53-1. Parsed once at the edge; what
 * has this type needs no further check. Function, hash and size together are the identity (`key`).
 */
export class Digest {
  readonly function: DigestFunction
  readonly hash: string
  readonly sizeBytes: number
  /** False of a mere key: what is kept under it is something else, and may become something else again. */
  readonly describesContent: boolean
  readonly #apart: Apart | undefined
  #key: string | undefined

  private constructor(
    digestFunction: DigestFunction,
    hash: string,
    sizeBytes: number,
    {
      describesContent = true,
      apart,
    }: { readonly describesContent?: boolean; readonly apart?: Apart | undefined } = {},
  ) {
    this.function = digestFunction
    this.hash = hash
    this.sizeBytes = sizeBytes
    this.describesContent = describesContent
    this.#apart = apart
  }

  /**
   * Rejects with INVALID_ARGUMENT what is not a digest of `digestFunction`; `what` names the field in the message, as a
   * function where the name takes work to make.
   */
  static parse(
    message: DigestMessage | null | undefined,
    digestFunction: DigestFunction,
    what: string | (() => string) = 'digest',
  ): Digest {
    const fault = faultOf(message, digestFunction)
    if (message == null || fault !== undefined) {
      throw new StatusError('INVALID_ARGUMENT', `${typeof what === 'string' ? what : what()}${fault}`)
    }
    return new Digest(digestFunction, message.hash, message.sizeBytes)
  }

  /** `parse` for every digest of a repeated field; `what` names the field. */
  static parseAll(
    messages: readonly (DigestMessage | null | undefined)[],
    digestFunction: DigestFunction,
    what: string,
  ): Digest[] {
    return messages.map((message, index) => {
      const fault = faultOf(message, digestFunction)
      if (message == null || fault !== undefined) throw new StatusError('INVALID_ARGUMENT', `${what}[${index}]${fault}`)
      return new Digest(digestFunction, message.hash, message.sizeBytes)
    })
  }

  /** What a `key` is of; undefined of other texts. */
  static ofKey(key: string): Digest | undefined {
    const [, name = 'sha256', hash = '', size = ''] = KEY.exec(key) ?? []
    const digestFunction = digestFunctions[name.toUpperCase() as DigestFunctionName] as DigestFunction | undefined
    const message = { hash, sizeBytes: Number(size) }
    const isRight = size !== '' && digestFunction !== undefined && faultOf(message, digestFunction) === undefined
    return isRight ? new Digest(digestFunction, hash, message.sizeBytes) : undefined
  }

  /** The digest of bytes at hand. */
  static of(bytes: Uint8Array, digestFunction: DigestFunction): Digest {
    return new Digest(digestFunction, digestFunction.hash(bytes), bytes.length)
  }

  /** The digest of bytes that were hashed while they passed. */
  static ofHash(hasher: { digest(): string }, sizeBytes: number, digestFunction: DigestFunction): Digest {
    return new Digest(digestFunction, hasher.digest(), sizeBytes)
  }

  /**
   * `{hash}-{sizeBytes}` for SHA256, `{function}-{hash}-{sizeBytes}` otherwise: unique over all functions. Made when first
   * asked for: of ten thousand digests that are merely looked up nobody asks.
   */
  get key(): string {
    this.#key ??= keyOf(this)
    return this.#key
  }

  get isEmpty(): boolean {
    return this.sizeBytes === 0 && this.content.hash === emptyHash(this.function)
  }

  /** Eight hex digits of its hash as a signed number, the first ones at 0. */
  hashWord(word: number): number {
    return hexWordAt(this.hash, word << 3)
  }

  /** The instance whose keys are kept apart from those of all others, if it is a key of such a one (`keptApartFor`). */
  get instanceName(): string | undefined {
    return this.#apart?.instanceName
  }

  /** What clients call it. Its hash is that of the bytes, where it describes any: whoever compares them compares with this. */
  get content(): Digest {
    return this.#apart?.content ?? this
  }

  /** As the key of what it is not the digest of: an action's result, or a blob in a form that a store gave it. */
  asKey(): Digest {
    if (!this.describesContent) return this
    return new Digest(this.function, this.hash, this.sizeBytes, { describesContent: false, apart: this.#apart })
  }

  /**
   * As the key under which a store that several instances share keeps what is this one's alone. It has a hash of the same
   * length, made of the hash and the name of the instance, so that stores need not know: nobody can ask in one instance
   * for a digest that becomes a key of another (a preimage of SHA-512 cut to that length).
   */
  keptApartFor(instanceName: string): Digest {
    const { function: digestFunction, sizeBytes, describesContent } = this
    const text = `${digestFunction.name}\0${this.hash}\0${instanceName}`
    const hash = createHash('sha512').update(text).digest('hex').slice(0, digestFunction.hexLength)
    return new Digest(digestFunction, hash, sizeBytes, { describesContent, apart: { content: this, instanceName } })
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
  if (value !== 0) {
    const named = served.find((candidate) => candidate.value === value)
    if (named !== undefined) return named
    const names = served.map(({ name }) => name).join(', ')
    throw new StatusError('INVALID_ARGUMENT', `digest_function ${value} is not served here, expected one of ${names}`)
  }
  const [first] = served
  if (first === undefined) throw new StatusError('INTERNAL', 'no digest function is configured')
  if (hash === undefined) return first
  const fits = (candidate: DigestFunction): boolean => candidate.hexLength === hash.length
  const inferred = served.find((candidate) => candidate.segment === undefined && fits(candidate)) ?? served.find(fits)
  if (inferred !== undefined) return inferred
  const lengths = served.map(({ name, hexLength }) => `${hexLength} (${name})`).join(', ')
  throw new StatusError('INVALID_ARGUMENT', `hash ${quoted(hash)} is not valid, expected hex digits: ${lengths}`)
}

const KEY = /^(?:([a-z0-9_]+)-)?([0-9a-f]+)-(\d+)$/

const keyOf = ({ function: { name }, hash, sizeBytes }: Digest): string =>
  name === 'SHA256' ? `${hash}-${sizeBytes}` : `${name.toLowerCase()}-${hash}-${sizeBytes}`

/** What is wrong with a digest message, to stand behind the name of its field; undefined when nothing is. */
const faultOf = (
  message: DigestMessage | null | undefined,
  { name, hexLength }: DigestFunction,
): string | undefined => {
  if (message == null) return ` is missing: expected a ${name} hash and a size`
  const { hash, sizeBytes } = message
  if (hash === '') return ` is empty: expected a ${name} hash and a size`
  if (hash.length !== hexLength || !LOWER_HEX.test(hash)) {
    return `: hash ${quoted(hash)} is not valid, expected ${hexLength} lower-case hex digits (${name})`
  }
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    return `: size ${sizeBytes} is not valid, expected 0 to 2^53-1 bytes`
  }
  return undefined
}

/** Eight lower-case hex digits as a signed number: half of what `parseInt` of a slice takes. */
export const hexWordAt = (text: string, at: number): number => {
  let word = 0
  for (let next = at; next < at + 8; next++) {
    const code = text.charCodeAt(next)
    word = (word << 4) | (code - (code > DIGIT_9 ? LETTER_BASE : DIGIT_0))
  }
  return word
}

const DIGIT_0 = 48
const DIGIT_9 = 57
/** What is left of `a` is ten. */
const LETTER_BASE = 87

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
