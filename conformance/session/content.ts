import { createHash, randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Candidate } from '../exam/candidate.js'
import { knowsApi } from '../exam/candidate.js'
import { type Codec, codecByName } from '../proto/codec.js'
import { DIGEST_TEXT, digestText, fromJson, type Json, parseDigest } from './json-form.js'
import { type BlobSource, type DigestText, SALT, type Session } from './session.js'
import { strangersOf } from './strangers.js'

const REAPI = 'build.bazel.remote.execution.v2'
const RESOURCE = /(?:^|\/)(uploads\/([^/]+)\/)?((?:blobs|compressed-blobs\/\w+)\/(?:blake3\/)?)([0-9a-f]{32,128}\/\d+)$/

/** The session uses something that it never introduced: the session is wrong, not the server. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
}

/**
 * The content of one replay in place of the recorded one. Blobs get the run's salt, and messages are rebuilt around the
 * new digests. Digests of content made by the server come from its answers.
 */
export class Content {
  readonly #session: Session
  readonly #properties: Candidate['properties']
  readonly #instanceName: string
  readonly #salt: string
  readonly #knowsOutputPaths: boolean
  readonly #strangers: ReadonlySet<DigestText>
  readonly #own = new Map<DigestText, { readonly digest: DigestText; readonly bytes: Buffer }>()
  readonly #bound = new Map<DigestText, DigestText>()
  readonly #names = new Map<string, string>()

  constructor(session: Session, candidate: Pick<Candidate, 'properties' | 'instanceName' | 'capabilities'>) {
    this.#session = session
    this.#properties = candidate.properties
    this.#instanceName = candidate.instanceName
    this.#knowsOutputPaths = knowsApi(candidate, 1)
    this.#strangers = strangersOf(session)
    // Digits have no upper case: an action that changes case leaves the salt as it is.
    const half = (): string => String(randomInt(1e8)).padStart(8, '0')
    this.#salt = `-${half()}${half()}`
  }

  /** Whether the client holds the blob, so that its digest is known before any answer. */
  isOwn(recorded: DigestText): boolean {
    return recorded in this.#session.blobs || recorded.endsWith('/0')
  }

  /** Like `digest`, for a digest inside a message: without execution a client does not upload its inputs. */
  #mentioned(recorded: DigestText): DigestText {
    const isKnown = this.isOwn(recorded) || this.#bound.has(recorded)
    return isKnown ? this.digest(recorded) : this.#unheld(recorded)
  }

  /** The digest in this run. Throws a SessionError if the server should have reported it and no answer did. */
  digest(recorded: DigestText): DigestText {
    const bound = this.#bound.get(recorded)
    if (bound !== undefined) return bound
    if (this.isOwn(recorded)) return this.#materialised(recorded).digest
    if (this.#strangers.has(recorded)) return this.#unheld(recorded)
    throw new SessionError(`the session uses ${recorded}, which no earlier call introduced`)
  }

  boundDigest(recorded: DigestText): DigestText | undefined {
    return this.#bound.get(recorded)
  }

  /** Maps a recorded digest to the server's digest. */
  bind(recorded: DigestText, actual: DigestText): void {
    this.#bound.set(recorded, actual)
  }

  bytes(recorded: DigestText): Buffer {
    return this.#materialised(recorded).bytes
  }

  /** The salted text that the server should produce; undefined if the session does not hold it. */
  expectedBytes(recorded: DigestText): Buffer | undefined {
    if (this.isOwn(recorded)) return this.bytes(recorded)
    const source = this.#session.expected[recorded]
    return source === undefined || 'message' in source ? undefined : this.#salted(this.#sourceBytes(source))
  }

  /** A message that the server should produce, in the session's digests. */
  expectedMessage(recorded: DigestText): { readonly codec: Codec<object, unknown>; readonly value: Json } | undefined {
    const source = this.#session.expected[recorded]
    if (source === undefined || !('message' in source)) return undefined
    return { codec: codecByName(`${REAPI}.${source.message}`), value: source.value }
  }

  bindName(recorded: string, actual: string): void {
    this.#names.set(recorded, actual)
  }

  /** A generated name for a recorded one, the same at each call. */
  freshName(recorded: string): string {
    const known = this.#names.get(recorded) ?? randomUUID()
    this.#names.set(recorded, known)
    return known
  }

  /**
   * A recorded message as sent by this run: digests, resource names, operation names, instance name and salt are
   * replaced.
   */
  mapped(form: Json, isWithinBlob = false, field = ''): Json {
    if (typeof form === 'string') {
      return isWithinBlob && DIGEST_TEXT.test(form) ? this.#mentioned(form) : this.#mappedText(form, field)
    }
    if (form === null || typeof form !== 'object') return form
    if (Array.isArray(form)) return form.map((each) => this.mapped(each, isWithinBlob, field))
    return Object.fromEntries(
      Object.entries(form).map(([name, value]) => [name, this.mapped(value, isWithinBlob, name)]),
    )
  }

  /** Prefixes a resource name with the run's instance name. */
  resourceName(recorded: string): string {
    const match = RESOURCE.exec(recorded)
    if (match === null) throw new SessionError(`resource name ${recorded} cannot be read`)
    const [, uploads, id = '', form, digest = ''] = match
    const prefix = this.#instanceName === '' ? '' : `${this.#instanceName}/`
    const upload = uploads === undefined ? '' : `uploads/${this.freshName(id)}/`
    return `${prefix}${upload}${form}${this.digest(digest)}`
  }

  get instanceName(): string {
    return this.#instanceName
  }

  #mappedText(text: string, field: string): string {
    if (DIGEST_TEXT.test(text)) return this.digest(text)
    if (field === 'resourceName') return this.resourceName(text)
    if (/^blobs\/[0-9a-f]{32,128}\/\d+$/.test(text)) return `blobs/${this.digest(text.slice('blobs/'.length))}`
    const named = this.#names.get(text)
    if (named !== undefined) return named
    if (/^[0-9a-f]{64}$/.test(text)) {
      const known = [...Object.keys(this.#session.blobs), ...this.#strangers].find((digest) => digest.startsWith(text))
      if (known !== undefined) return parseDigest(this.digest(known)).hash
    }
    return text.replaceAll(SALT, this.#salt)
  }

  /**
   * A digest of this run for content that the client never sends, so that no action that depends on it has run before.
   */
  #unheld(recorded: DigestText): DigestText {
    const { hash, sizeBytes } = parseDigest(recorded)
    const salted = createHash('shake256', { outputLength: hash.length / 2 }).update(`${this.#salt} ${recorded}`)
    return digestText({ hash: salted.digest('hex'), sizeBytes })
  }

  #materialised(recorded: DigestText): { readonly digest: DigestText; readonly bytes: Buffer } {
    const known = this.#own.get(recorded)
    if (known !== undefined) return known
    const source = this.#session.blobs[recorded] ?? (recorded.endsWith('/0') ? { text: '' } : undefined)
    if (source === undefined) throw new SessionError(`the session does not hold ${recorded}`)
    const bytes = 'message' in source ? this.#message(source) : this.#salted(this.#sourceBytes(source))
    const hash = createHash('sha256').update(bytes).digest('hex')
    const made = { digest: digestText({ hash, sizeBytes: bytes.length }), bytes }
    this.#own.set(recorded, made)
    return made
  }

  #message({ message, value }: { readonly message: string; readonly value: Json }): Buffer {
    const mapped = this.mapped(value, true) as { readonly [field: string]: Json }
    const isPlatformed = message === 'Command' || (message === 'Action' && 'platform' in mapped)
    const whole = isPlatformed && this.#properties.length > 0 ? { ...mapped, platform: this.#platform(mapped) } : mapped
    const sent = this.#understood(message === 'Directory' ? sorted(whole) : whole)
    return codecByName(`${REAPI}.${message}`).encode(fromJson(sent) as object)
  }

  /** Clients use the legacy fields for servers that announce less than 2.1; the outputs of sessions are files. */
  #understood(message: { readonly [field: string]: Json }): { readonly [field: string]: Json } {
    const { outputPaths, ...rest } = message
    return outputPaths === undefined || this.#knowsOutputPaths ? message : { ...rest, outputFiles: outputPaths }
  }

  #platform({ platform }: { readonly [field: string]: Json }): Json {
    const recorded = (platform as { properties?: Candidate['properties'] } | undefined)?.properties ?? []
    const own = recorded.filter(({ name }) => !this.#properties.some((property) => property.name === name))
    return { properties: [...own, ...this.#properties].sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  #sourceBytes(source: Exclude<BlobSource, { readonly message: string }>): Buffer {
    if ('text' in source) return Buffer.from(source.text)
    if ('base64' in source) return Buffer.from(source.base64, 'base64')
    if ('joined' in source) return Buffer.concat(source.joined.map((part) => this.bytes(part)))
    if ('repeat' in source) return Buffer.alloc(source.sizeBytes, source.repeat)
    return readFileSync(join(this.#session.folder, 'blobs', source.file))
  }

  #salted(bytes: Buffer): Buffer {
    if (!bytes.includes(SALT)) return bytes
    const salted = Buffer.from(bytes)
    for (let at = salted.indexOf(SALT); at >= 0; at = salted.indexOf(SALT, at + 1)) salted.write(this.#salt, at)
    return salted
  }
}

/** The salt may be part of a name, and a Directory must be sorted. */
const sorted = (directory: { readonly [field: string]: Json }): { readonly [field: string]: Json } =>
  Object.fromEntries(
    Object.entries(directory).map(([field, value]) => [
      field,
      Array.isArray(value) ? [...(value as { name: string }[])].sort((a, b) => (a.name < b.name ? -1 : 1)) : value,
    ]),
  )
