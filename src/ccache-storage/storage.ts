import { Readable } from 'node:stream'
import type { Clock } from '../base/clock.js'
import { isStatus } from '../base/status-error.js'
import type { RemoteEntries } from '../client/entries.js'
import { type Call, internalCall } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { pour } from '../stream/blob/pour.js'
import { Semaphore } from '../work/semaphore.js'
import { type KeyedRequest, lengthOf, storageRequests } from './requests.js'

/** What ccache expects of its helper: version 1, three capabilities (get/put/remove, info, exists). */
const GREETING = Buffer.from([1, 3, 0, 1, 2])
const OK = Buffer.from([0])
/** Not found; not stored; not removed. */
const NOOP = Buffer.from([1])
const ERROR = Buffer.from([2])

const MAX_MESSAGE_BYTES = 255
/** Up to this length a value is read before the answer begins, so that a damaged one is an error and not a broken connection. */
const READ_FIRST_BYTES = 1024 * 1024
/** So many requests wait for the server at a time. */
const REQUESTS_AT_A_TIME = 64
/** A server that did not answer is not asked again for so long: each compilation would wait for it. */
const AWAY_MS = 2_000

/** A client's connection: what it sends, and where the answers go. */
export interface Connection {
  readonly input: AsyncIterable<Buffer>
  /** Resolves when the bytes may change. */
  write(bytes: Buffer): Promise<void>
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
}

export interface StorageParts {
  /** Or why there are none. */
  readonly entries: RemoteEntries | Error
  readonly identity: string
  readonly clock: Clock
  /** Text without secrets. */
  readonly hide: (text: string) => string
}

/** ccache's storage helper over a server of the API. */
export class CcacheStorage {
  readonly #parts: StorageParts
  readonly #turns = new Semaphore({ permits: REQUESTS_AT_A_TIME })
  #away: { readonly untilMs: number; readonly error: unknown } | undefined

  constructor(parts: StorageParts) {
    this.#parts = parts
  }

  /** Answers until the client ends. Resolves to whether it asked the helper to stop. Rejects if the connection cannot go on. */
  async serve(connection: Connection, onRequest: () => () => void): Promise<'stopped' | 'ended'> {
    await connection.write(GREETING)
    for await (const request of storageRequests(connection.input)) {
      const done = onRequest()
      try {
        if ('key' in request) await this.#answer(request, connection)
        else if (request.kind === 'info') await connection.write(this.#info())
        else {
          await connection.write(OK)
          return 'stopped'
        }
      } finally {
        done()
      }
    }
    return 'ended'
  }

  #info(): Buffer {
    const { entries, identity } = this.#parts
    const diagnostics = entries instanceof Error ? [this.#text(entries)] : []
    return Buffer.concat([message(identity), Buffer.from([diagnostics.length]), ...diagnostics.map(message)])
  }

  async #answer(request: KeyedRequest, { write, signal }: Connection): Promise<void> {
    const release = await this.#turns.acquire('a request', signal)
    try {
      const answer = await this.#ask(request, internalCall({ signal }))
      if (Buffer.isBuffer(answer)) await write(answer)
      else {
        await write(Buffer.concat([OK, lengthOf(answer.sizeBytes)]))
        await pour(await answer.body.take(), write, signal)
      }
    } finally {
      release()
    }
  }

  /** The whole answer, or a value to send. */
  async #ask(request: KeyedRequest, call: Call): Promise<Buffer | Value> {
    try {
      const { entries } = this.#parts
      if (entries instanceof Error) throw entries
      const { untilMs, error } = this.#away ?? { untilMs: 0 }
      if (this.#parts.clock.now() < untilMs) throw error
      return await ANSWERS[request.kind](entries, request as never, call)
    } catch (error) {
      if (call.signal.aborted) throw error
      if (isStatus(error, 'UNAVAILABLE') && this.#away?.error !== error)
        this.#away = { untilMs: this.#parts.clock.now() + AWAY_MS, error }
      return Buffer.concat([ERROR, message(this.#text(error))])
    }
  }

  #text(error: unknown): string {
    return this.#parts.hide(error instanceof Error ? error.message : String(error))
  }
}

interface Value {
  readonly sizeBytes: number
  readonly body: Blob
}

type Answers = {
  readonly [Kind in KeyedRequest['kind']]: (
    entries: RemoteEntries,
    request: Extract<KeyedRequest, { readonly kind: Kind }>,
    call: Call,
  ) => Promise<Buffer | Value>
}

const ANSWERS: Answers = {
  get: async (entries, { key }, call) => {
    const found = await entries.get(key, call)
    if (found === undefined) return NOOP
    const { digest, body } = found
    if (digest.sizeBytes > READ_FIRST_BYTES) return { sizeBytes: digest.sizeBytes, body }
    const bytes = await body.bytes(READ_FIRST_BYTES, call)
    return Buffer.concat([OK, lengthOf(bytes.length), bytes])
  },
  put: async (entries, { key, overwrites, sizeBytes, value }, call) => {
    if (!overwrites && (await entries.has(key, call))) return NOOP
    const stream = Readable.from(value, { objectMode: false })
    // An abort destroys it, in any of the stages of the blob; its failure then has no other listener.
    stream.on('error', () => {})
    await entries.put(key, Blob.ofPath([stream], { sizeBytes }), call)
    return OK
  },
  exists: async (entries, { key }, call) => Buffer.from([0, (await entries.has(key, call)) ? 1 : 0]),
  // The API has no way to remove a result. ccache overwrites what it could not use.
  remove: async () => NOOP,
}

const message = (text: string): Buffer => {
  const bytes = Buffer.alloc(1 + MAX_MESSAGE_BYTES)
  // Writes whole characters only.
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(1))
  bytes[0] = written
  return bytes.subarray(0, 1 + written)
}
