import { createHash } from 'node:crypto'
import { StatusError } from '../base/status-error.js'
import {
  type DigestFunction,
  functionsByName,
  type Hasher,
  isKeyKind,
  type KeyKindName,
  keyKinds,
} from './digest-function.js'

/** The wire form: `build.bazel.remote.execution.v2.Digest`. */
export interface DigestMessage {
  readonly hash: string
  readonly sizeBytes: number
}

interface Isolation {
  readonly content: Digest
  readonly instanceName: string
}

/**
 * A valid digest: lower-case hex of its function's length, and a size from 0 to 2^53-1. Input is parsed once,
 * where it enters, so a Digest needs no further check. Function, hash and size together are its identity
 * (`key`).
 */
export class Digest {
  readonly function: DigestFunction
  readonly hash: string
  readonly sizeBytes: number
  /** False for a key: the content stored under it is not described by the digest, and may change. */
  readonly describesContent: boolean
  readonly #isolation: Isolation | undefined
  #key: string | undefined

  private constructor(
    digestFunction: DigestFunction,
    hash: string,
    sizeBytes: number,
    {
      describesContent = true,
      isolation,
    }: { readonly describesContent?: boolean; readonly isolation?: Isolation | undefined } = {},
  ) {
    this.function = digestFunction
    this.hash = hash
    this.sizeBytes = sizeBytes
    this.describesContent = describesContent
    this.#isolation = isolation
  }

  /**
   * Throws INVALID_ARGUMENT if `message` is no digest of `digestFunction`. `what` names the field in the
   * error; pass a function if the name is expensive to build.
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

  /** Parses every digest of a repeated field; `what` names the field. */
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

  /** A key of the server's own for what `text` says. No digest that a client names is equal to it. */
  static ofOwn(kind: KeyKindName, text: string): Digest {
    const bytes = Buffer.from(text)
    const { [kind]: digestFunction } = keyKinds
    return new Digest(digestFunction, digestFunction.hash(bytes), bytes.length, { describesContent: false })
  }

  /** The digest of a `key` that a store has kept; undefined for other texts. Never for a text of a client. */
  static ofKey(key: string): Digest | undefined {
    const [, name = 'sha256', hash = '', size = ''] = KEY.exec(key) ?? []
    const digestFunction = functionsByName.get(name)
    const message = { hash, sizeBytes: Number(size) }
    const isRight = size !== '' && digestFunction !== undefined && faultOf(message, digestFunction) === undefined
    return isRight ? new Digest(digestFunction, hash, message.sizeBytes) : undefined
  }

  /** The digest whose hash is these bytes. The caller has seen to their number and to the size. */
  static ofHashBytes(
    from: Buffer,
    begin: number,
    digestFunction: DigestFunction,
    { sizeBytes, describesContent = true }: { readonly sizeBytes: number; readonly describesContent?: boolean },
  ): Digest {
    const hash = from.toString('hex', begin, begin + digestFunction.hexLength / 2)
    return new Digest(digestFunction, hash, sizeBytes, { describesContent })
  }

  /** The digest of bytes in memory. */
  static of(bytes: Uint8Array, digestFunction: DigestFunction): Digest {
    return new Digest(digestFunction, digestFunction.hash(bytes), bytes.length)
  }

  /** The digest of bytes that were hashed while they passed. Throws FAILED_PRECONDITION if the hash is of another length. */
  static ofHash(
    hasher: Pick<Hasher, 'digest' | 'sizeBytes'>,
    sizeBytes: number,
    digestFunction: DigestFunction,
  ): Digest {
    const announced = hasher.sizeBytes ?? sizeBytes
    if (announced !== sizeBytes) {
      const found = `the content has ${sizeBytes} bytes, and its ${digestFunction.name} begins with ${announced}`
      throw new StatusError('FAILED_PRECONDITION', `${found}: it changed while it was read`)
    }
    return new Digest(digestFunction, hasher.digest(), sizeBytes)
  }

  /**
   * `{hash}-{sizeBytes}` for SHA256, `{function}-{hash}-{sizeBytes}` otherwise; unique over all functions.
   * Computed on first use, because lookups of many digests do not need it.
   */
  get key(): string {
    this.#key ??= keyOf(this)
    return this.#key
  }

  get isEmpty(): boolean {
    return this.sizeBytes === 0 && this.content.hash === emptyHash(this.function)
  }

  /** Eight hex digits of the hash as a signed number; word 0 holds the first ones. */
  hashWord(word: number): number {
    return hexWordAt(this.hash, word << 3)
  }

  /** Whether this is a key of the server's own (`ofOwn`). */
  get isOwn(): boolean {
    return isKeyKind(this.function)
  }

  /** Whether the hash is that of the content: not for keys, nor for content in an isolated instance, whose key differs. */
  get isHashOfContent(): boolean {
    return this.describesContent && this.#isolation === undefined && !this.isOwn
  }

  /** The isolated instance that this key belongs to, if any (`isolatedFor`). */
  get instanceName(): string | undefined {
    return this.#isolation?.instanceName
  }

  /** The digest as clients know it. If it describes content, its hash is the one to compare the bytes with. */
  get content(): Digest {
    return this.#isolation?.content ?? this
  }

  /**
   * The digest as a key for something that it does not describe: an action result, or a blob in a store's own
   * encoding.
   */
  asKey(): Digest {
    if (!this.describesContent) return this
    return new Digest(this.function, this.hash, this.sizeBytes, { describesContent: false, isolation: this.#isolation })
  }

  /**
   * The digest as a key of one isolated instance in a shared store. The new hash is computed from the hash
   * and the instance name. It has the same length, so stores need not know about instances. No client can
   * craft a digest that becomes another instance's key: that needs a preimage of SHA-512 truncated to that
   * length.
   */
  isolatedFor(instanceName: string): Digest {
    const { function: digestFunction, sizeBytes, describesContent } = this
    const text = `${digestFunction.name}\0${this.hash}\0${instanceName}`
    const hash = createHash('sha512').update(text).digest('hex').slice(0, digestFunction.hexLength)
    return new Digest(digestFunction, hash, sizeBytes, { describesContent, isolation: { content: this, instanceName } })
  }

  /** Other content as a key of the isolated instance that this key belongs to; `content` itself if there is none. */
  beside(content: Digest): Digest {
    return this.#isolation === undefined ? content : content.isolatedFor(this.#isolation.instanceName)
  }

  toMessage(): DigestMessage {
    return { hash: this.hash, sizeBytes: this.sizeBytes }
  }

  toString(): string {
    return this.key
  }
}

/**
 * The digest function of a request (REAPI: `digest_function`, or if unset the function with this hash
 * length). BLAKE3 and SHA256 have the same length, so unset means BLAKE3 only if SHA256 is not served.
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

/** Describes the fault of a digest message, as a suffix to the field's name; undefined if it is valid. */
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

/** Eight lower-case hex digits as a signed number. Takes half the time of `parseInt` on a slice. */
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
/** Code of 'a' minus ten. */
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
