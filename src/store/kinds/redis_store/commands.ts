import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { AttemptOptions, Requests } from '../../remote/requests.js'
import type { RedisArgument, RedisConnections, RedisReply } from './connections.js'
import { isWrongType } from './failure.js'

/** The keys of one blob, all in the same slot of a cluster. */
export interface BlobKeys {
  /** The key that readers use. */
  readonly blob: string
  /** The previous content of a large blob, for reads in flight. */
  readonly replaced: string
  /** The temporary key of one upload. */
  upload(id: string): string
}

/**
 * A blob is under `{prefix}{digest}`. Redis chooses the slot by the text in the first braces of a key. That is the name
 * of the blob here, unless the prefix has braces, which then decide for all keys.
 */
export const keysOf = (prefix: string, { key }: Digest): BlobKeys => {
  const blob = `${prefix}${key}`
  return {
    blob,
    replaced: `${prefix}replaced:{${blob}}`,
    upload: (id) => `${prefix}upload:{${blob}}:${id}`,
  }
}

/** Rejects a prefix with unbalanced braces, which would put a blob and its parts into different slots. */
export const checkPrefix = (prefix: string): void => {
  if (/^[^{}]*(\{[^{}]+\}.*)?$/s.test(prefix)) return
  throw new StatusError(
    'INVALID_ARGUMENT',
    `key_prefix ${JSON.stringify(prefix)} has braces that Redis would take for a hash tag, expected none or one such as "{builds}:"`,
  )
}

/** How a large blob is stored in the hash under its key: chunks of one size, with their index as field name. */
export interface Layout {
  readonly sizeBytes: number
  readonly chunkBytes: number
  /** Id of the upload: another id under the same key means another blob. */
  readonly id: string
}

/** The value under a key: a string, or chunks in a hash. */
export type Value = { readonly bytes: Buffer } | { readonly layout: Layout } | { readonly stringBytes: number }

/** The commands that the store uses, each with retries. */
export class Commands {
  readonly #connections: RedisConnections
  readonly #requests: Requests

  constructor(connections: RedisConnections, requests: Requests) {
    this.#connections = connections
    this.#requests = requests
  }

  one(key: string | undefined, args: RedisArgument[], call: Pick<Call, 'signal'>): Promise<RedisReply> {
    return this.#requests.run(call, (signal) => this.#connections.send(key, args, signal))
  }

  /** Sends commands together, as one request. The keys may be in different slots. */
  all(
    commands: readonly (readonly [key: string, args: RedisArgument[]])[],
    call: Pick<Call, 'signal'>,
    options?: AttemptOptions,
  ): Promise<readonly RedisReply[]> {
    const send = (signal: AbortSignal): Promise<readonly RedisReply[]> =>
      Promise.all(commands.map(([key, args]) => this.#connections.send(key, args, signal)))
    return this.#requests.run(call, send, options)
  }

  /**
   * The value under a key; undefined when there is none. A string expected to be large is not fetched, only its length.
   */
  async look(key: string, isLarge: boolean, call: Pick<Call, 'signal'>): Promise<Value | undefined> {
    const steps = isLarge ? [this.#layout, this.#length] : [this.#string, this.#layout]
    for (const step of steps) {
      const found = await this.#requests.run(call, (signal) => unlessOther(step(key, signal)))
      if (found !== OTHER_FORM) return found
    }
    throw new StatusError('UNAVAILABLE', `blob ${key} changed its form while it was looked at`)
  }

  /** One chunk of an upload; undefined if it is not, or no longer, under that key. */
  async chunk(key: string, id: string, index: number, call: Pick<Call, 'signal'>): Promise<Buffer | undefined> {
    const args = ['HMGET', key, 'id', String(index)]
    const reply = await this.#requests.run(call, (signal) => unlessOther(this.#connections.send(key, args, signal)))
    if (reply === OTHER_FORM) return undefined
    const [found, chunk] = reply as readonly (Buffer | null)[]
    return found?.toString() === id ? (chunk ?? undefined) : undefined
  }

  readonly #string = async (key: string, signal: AbortSignal): Promise<Value | undefined> => {
    const bytes = await this.#connections.send(key, ['GET', key], signal)
    return Buffer.isBuffer(bytes) ? { bytes } : undefined
  }

  readonly #layout = async (key: string, signal: AbortSignal): Promise<Value | undefined> => {
    const reply = await this.#connections.send(key, ['HMGET', key, ...LAYOUT_FIELDS], signal)
    const [size, chunk, id] = reply as readonly (Buffer | null)[]
    if (size == null || chunk == null || id == null) return undefined
    return { layout: { sizeBytes: Number(size), chunkBytes: Number(chunk), id: id.toString() } }
  }

  readonly #length = async (key: string, signal: AbortSignal): Promise<Value | undefined> => {
    const stringBytes = Number(await this.#connections.send(key, ['STRLEN', key], signal))
    return stringBytes === 0 ? undefined : { stringBytes }
  }
}

/** The hash fields besides the chunks. A complete hash has this many more fields than chunks. */
export const LAYOUT_FIELDS = ['size', 'chunk', 'id'] as const

const OTHER_FORM = Symbol('other form')

/** Turns a WRONGTYPE error into a value, because both forms are valid. */
const unlessOther = <T>(work: Promise<T>): Promise<T | typeof OTHER_FORM> =>
  work.catch((error: unknown) => {
    if (isWrongType(error)) return OTHER_FORM
    throw error
  })
