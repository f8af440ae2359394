import { StatusError } from '../../base/status-error.js'
import { textAnswer } from '../../http/answer.js'
import type { HeldFor } from '../../ledger/ledger.js'
import { cancelledBy } from '../../rpc/call.js'
import type { Caller } from '../../rpc/gate.js'
import { BlobFeed, type FeedTaker } from '../../stream/blob/feed.js'
import type { Client } from '../client.js'
import { repeatsField } from '../grpc/metadata.js'
import type { FieldLines } from '../http2/hpack/decoder.js'
import { encodeFields } from '../http2/hpack/encoder.js'
import type { Consumer, RequestStream } from '../http2/request-stream.js'
import type { Exchange } from './exchange.js'
import type { CheckedAnswer } from './head.js'
import type { HttpRequests } from './requests.js'
import { sendBody } from './send-body.js'

const NO_GRPC = 'this port serves gRPC: expected POST with content-type application/grpc\n'

/**
 * Answers a request that is not gRPC by a route, or with an explanation that this port serves gRPC (gRPC over HTTP2,
 * Requests).
 */
export const answerNoGrpc = (
  stream: RequestStream,
  requests: HttpRequests,
  { client, held, bodyMs }: { readonly client: Client; readonly held: HeldFor; readonly bodyMs: number },
): void => {
  const exchange = new Http2Exchange(stream, client, held, bodyMs)
  stream.consumer = exchange
  // A POST is meant for gRPC unless it names a route.
  const isMeantForGrpc = stream.head.method === 'POST' && !requests.has(stream.head.path)
  const answered = requests.answer(exchange, isMeantForGrpc ? textAnswer(415, NO_GRPC) : undefined)
  const handled = (): void => stream.handled()
  answered.then(handled, handled)
}

/** A request over HTTP/2 and its answer. */
class Http2Exchange implements Exchange, Consumer {
  readonly caller: Caller
  readonly headers: ReadonlyMap<string, string>
  readonly held: HeldFor
  readonly bodyBytes: number | undefined
  readonly #stream: RequestStream
  readonly #gone = new AbortController()
  readonly #body: Http2Body
  /** Ends the wait for a client that takes nothing. */
  #giveUp: ((error: StatusError) => void) | undefined

  constructor(stream: RequestStream, client: Client, held: HeldFor, bodyMs: number) {
    const { lines } = stream.head
    this.#stream = stream
    this.held = held
    this.bodyBytes = stream.isRemoteEnded ? 0 : stream.head.contentLengthBytes
    this.headers = headersOf(lines)
    this.caller = { ...client, metadata: this.headers, repeats: (name) => repeatsField(lines, name) }
    this.#body = new Http2Body(stream, bodyMs)
  }

  get method(): string {
    return this.#stream.head.method
  }

  get target(): string {
    return this.#stream.head.path
  }

  whyCancelled(): StatusError | undefined {
    return cancelledBy({ signal: this.signal })
  }

  bodyAtHand(): undefined {
    return undefined
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  body(): BlobFeed {
    return this.#body
  }

  async send(answer: CheckedAnswer): Promise<number> {
    try {
      return await this.#send(answer)
    } catch (error) {
      // So that the client does not take the answer for whole.
      this.#stream.reset('INTERNAL_ERROR')
      throw error
    }
  }

  async #send({ status, head, body }: CheckedAnswer): Promise<number> {
    const stream = this.#stream
    // What is still to come is read and dropped, for as long as the transport lets it.
    this.#body.drop()
    const hasBody = body !== undefined && this.method !== 'HEAD' && status !== 204 && status !== 304
    const sizeBytes = body === undefined ? 0 : body.sizeBytes
    const fields: [string, string][] = [[':status', String(status)]]
    for (let at = 0; at < head.length; at += 2) fields.push([head[at] as string, head[at + 1] as string])
    if (sizeBytes !== undefined && status !== 204 && status !== 304) fields.push(['content-length', String(sizeBytes)])
    stream.respond(encodeFields(fields), !hasBody)
    if (!hasBody) {
      body?.discard()
      return 0
    }
    const { held, signal } = this
    const write = (bytes: Buffer): Promise<void> => this.#write(bytes)
    const sentBytes = await sendBody(body, { held, signal, write, room: () => this.#room() })
    stream.end()
    return sentBytes
  }

  data(bytes: Buffer): void {
    this.#body.data(bytes)
  }

  ended(): void {
    this.#body.ended()
  }

  sweep(nowMs: number): void {
    this.#body.sweep(nowMs)
  }

  gone(): void {
    const error = new StatusError('CANCELLED', 'the client is gone')
    this.#gone.abort(error)
    this.#body.fail(error)
    this.#giveUp?.(error)
  }

  #room(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) return reject(this.signal.reason)
      this.#giveUp = reject
      this.#stream.whenRoom((sizeBytes) => {
        this.#giveUp = undefined
        resolve(sizeBytes)
      })
    })
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      if (!this.#stream.makeRoom(bytes.length)) {
        reject(new StatusError('RESOURCE_EXHAUSTED', 'the server has no memory left for answers: try again later'))
        return
      }
      this.#stream.write(bytes, () => (signal.aborted ? reject(signal.reason) : resolve()))
      this.#stream.flush()
    })
  }
}

/** The first value of each header; `:authority` is the host of HTTP/1. */
const headersOf = (lines: FieldLines): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>()
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] === ':authority' ? 'host' : (lines[at] as string)
    if (!name.startsWith(':') && !headers.has(name)) headers.set(name, lines[at + 1] as string)
  }
  return headers
}

/** Bytes that arrive before they are wanted fill the client's window, which bounds them. */
class Http2Body extends BlobFeed {
  readonly #stream: RequestStream
  readonly #bodyMs: number
  #early: Buffer[] = []
  #taker: FeedTaker | undefined
  #settle: ((error?: unknown) => void) | undefined
  #working: Promise<void> | undefined
  #isEnded = false
  #isDropped = false
  #failure: unknown
  #waitsSinceMs: number | undefined

  constructor(stream: RequestStream, bodyMs: number) {
    super()
    this.#stream = stream
    this.#bodyMs = bodyMs
  }

  protected move(taker: FeedTaker): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#settle = (error) => {
        this.#settle = undefined
        this.#taker = undefined
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#taker = taker
      if (this.#failure !== undefined) this.#settle(this.#failure)
      else void this.#pour()
    })
  }

  discard(): void {
    this.drop()
    this.#settle?.(new StatusError('CANCELLED', 'the body is no longer wanted'))
  }

  /** What still comes is not wanted. */
  drop(): void {
    this.#isDropped = true
    const early = this.#early
    this.#early = []
    for (const { length } of early) this.#stream.consumed(length)
  }

  data(bytes: Buffer): void {
    this.#waitsSinceMs = undefined
    if (this.#isDropped) this.#stream.consumed(bytes.length)
    else {
      this.#early.push(Buffer.from(bytes))
      if (this.#taker !== undefined && this.#working === undefined) void this.#pour()
    }
  }

  ended(): void {
    this.#isEnded = true
    if (this.#working === undefined && this.#early.length === 0) this.#settle?.()
  }

  fail(error: unknown): void {
    this.#failure = error
    this.#settle?.(error)
  }

  sweep(nowMs: number): void {
    if (this.#taker === undefined || this.#working !== undefined) {
      this.#waitsSinceMs = undefined
      return
    }
    this.#waitsSinceMs ??= nowMs
    if (nowMs - this.#waitsSinceMs < this.#bodyMs) return
    this.#settle?.(new StatusError('DEADLINE_EXCEEDED', `no byte of the body came for ${this.#bodyMs / 1000} s`))
  }

  async #pour(): Promise<void> {
    for (let bytes = this.#early.shift(); bytes !== undefined; bytes = this.#early.shift()) {
      const { length } = bytes
      try {
        const taken = this.#taker?.(bytes)
        if (taken !== undefined) {
          this.#working = taken
          await taken
        }
      } catch (error) {
        this.#settle?.(error)
        this.drop()
        return
      } finally {
        this.#working = undefined
        this.#stream.consumed(length)
      }
    }
    if (this.#isEnded) this.#settle?.()
  }
}
