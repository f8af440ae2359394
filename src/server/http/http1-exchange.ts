import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { StatusError } from '../../base/status-error.js'
import type { HttpAnswer } from '../../http/request.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Caller } from '../../rpc/gate.js'
import { type Client, clientOf } from '../client.js'
import type { Exchange } from './exchange.js'
import { Http1Body } from './http1-body.js'
import { sendBody } from './send-body.js'

/** Up to this length an answer is written in one piece. */
const ONE_PIECE_BYTES = 256 * 1024

/** A connection that may know its client and what is held for it, for streams that are not sockets. */
export type Http1Socket = Socket & { readonly client?: Client; readonly held?: HeldFor }

/** A request over HTTP/1 and its answer. */
export class Http1Exchange implements Exchange {
  readonly caller: Caller
  readonly bodyBytes: number | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #socket: Http1Socket
  readonly #expectsContinue: boolean
  /** Made when somebody asks: most requests end without. */
  #gone: AbortController | undefined
  #isGone = false
  #isBegun = false
  #body: Http1Body | undefined
  /** How long the last write has waited for the client. */
  #stalledMs = 0
  #isWriting = false

  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    this.#request = request
    this.#response = response
    this.#socket = request.socket
    this.#expectsContinue = expectsContinue
    const { client = clientOf(request.socket) } = this.#socket
    this.caller = { ...client, metadata: headersOf(request), repeats: (name) => isRepeated(request, name) }
    this.bodyBytes = bodyBytesOf(request)
    response.once('close', () => {
      if (response.writableFinished) return
      this.#isGone = true
      this.#gone?.abort(gone())
    })
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get target(): string {
    return this.#request.url ?? '/'
  }

  get held(): HeldFor | undefined {
    return this.#socket.held
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController()
      if (this.#isGone) this.#gone.abort(gone())
    }
    return this.#gone.signal
  }

  body(): Http1Body {
    this.#body ??= new Http1Body(this.#request, () => this.#begin())
    return this.#body
  }

  /** Whether what is left of the body has not been read. */
  get hasUnread(): boolean {
    return !this.#request.readableEnded && !this.#request.complete
  }

  /** Whether the client has been told to wait and was never told to begin: it may or may not send its body now. */
  get isUndecided(): boolean {
    return this.#expectsContinue && !this.#isBegun
  }

  /** Reads and drops what is left of the body. Resolves when there is no more, or the connection has closed. */
  async readOff(): Promise<void> {
    const request = this.#request
    if (request.readableEnded || request.destroyed) return
    const ended = once(request, 'close').catch(() => {})
    request.resume()
    await ended
  }

  /** Makes this answer the last one of the connection. */
  endConnection(): void {
    if (!this.#response.headersSent) this.#response.setHeader('connection', 'close')
  }

  async send({ status, headers, body }: HttpAnswer): Promise<number> {
    const response = this.#response
    if (response.destroyed) {
      body?.discard()
      throw gone()
    }
    const sizeBytes = body === undefined ? 0 : body.sizeBytes
    const hasBody = status !== 204 && status !== 304
    if (this.isUndecided) this.endConnection()
    const length = sizeBytes === undefined || !hasBody ? {} : { 'content-length': sizeBytes }
    if (body === undefined || this.method === 'HEAD' || !hasBody) {
      body?.discard()
      response.writeHead(status, { ...headers, ...length }).end()
      await this.#finished()
      return 0
    }
    // Bytes in memory are taken before the head is sent: they can no longer fail then.
    if (body.isAtHand && (sizeBytes ?? Number.POSITIVE_INFINITY) <= ONE_PIECE_BYTES) {
      const bytes = await body.bytes(ONE_PIECE_BYTES, this)
      response.writeHead(status, { ...headers, ...length })
      await this.#waiting(() => {
        response.end(bytes)
        return this.#finished()
      })
      return bytes.length
    }
    response.writeHead(status, { ...headers, ...length })
    try {
      const sentBytes = await sendBody(body, (bytes) => this.#waiting(() => this.#write(bytes)), this.signal)
      response.end()
      await this.#finished()
      return sentBytes
    } catch (error) {
      // The connection ends before the last byte, so that the client does not take the answer for whole.
      response.destroy()
      throw error
    }
  }

  /** Called regularly, with the time since the last call. */
  sweep(passedMs: number, periodMs: number): void {
    this.#body?.sweep(passedMs, periodMs)
    if (!this.#isWriting) return
    this.#stalledMs += passedMs
    if (this.#stalledMs >= periodMs) this.#response.destroy()
  }

  #begin(): void {
    if (this.#expectsContinue && !this.#isBegun) this.#response.writeContinue()
    this.#isBegun = true
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const lost = (): void => reject(gone())
      this.#response.once('close', lost)
      this.#response.write(bytes, (error) => {
        this.#response.off('close', lost)
        if (error) reject(gone())
        else resolve()
      })
    })
  }

  async #waiting<T>(work: () => Promise<T>): Promise<T> {
    this.#stalledMs = 0
    this.#isWriting = true
    try {
      return await work()
    } finally {
      this.#isWriting = false
    }
  }

  async #finished(): Promise<void> {
    const response = this.#response
    if (response.writableFinished) return
    if (!response.destroyed) await once(response, 'close').catch(() => {})
    if (!response.writableFinished) throw gone()
  }
}

const gone = (): StatusError => new StatusError('CANCELLED', 'the client is gone')

const headersOf = ({ headers }: IncomingMessage): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string') found.set(name, value)
  }
  return found
}

const isRepeated = ({ rawHeaders }: IncomingMessage, name: string): boolean =>
  rawHeaders.filter((header, at) => at % 2 === 0 && header.toLowerCase() === name).length > 1

/** The parser has refused a length that is no number, and a second one. */
const bodyBytesOf = ({ headers }: IncomingMessage): number | undefined => {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}
