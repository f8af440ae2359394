import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StatusError } from '../../base/status-error.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Caller } from '../../rpc/gate.js'
import type { Client } from '../client.js'
import type { Exchange } from './exchange.js'
import type { CheckedAnswer } from './head.js'
import { Http1Body } from './http1-body.js'
import { sendBody } from './send-body.js'

/** Up to this length an answer is written in one piece. */
const ONE_PIECE_BYTES = 256 * 1024
/** Up to this length it is written as text, one character a byte. */
const SHORT_BYTES = 8 * 1024
/** Up to this length a body that has come is read in one piece. */
const AT_HAND_BYTES = 64 * 1024

/** The remote end of a connection, and what is held for it. */
export interface Http1Peer {
  readonly client: Client
  /** Undefined for a transport whose buffers cannot be accounted for. */
  readonly held: HeldFor | undefined
}

/** A request over HTTP/1 and its answer. */
export class Http1Exchange implements Exchange {
  readonly bodyBytes: number | undefined
  readonly held: HeldFor | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #client: Client
  readonly #expectsContinue: boolean
  #caller: Caller | undefined
  #headers: ReadonlyMap<string, string> | undefined
  /** Made when somebody asks: most requests end without. */
  #gone: AbortController | undefined
  #isGone = false
  #isBegun = false
  #body: Http1Body | undefined
  /** Whether the whole body was taken at hand. */
  #isRead = false
  /** Told when the connection has closed before the answer has left. */
  #onClosed: (() => void) | undefined
  /** How long the last write has waited for the client. */
  #stalledMs = 0
  #isWriting = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { client, held, expectsContinue }: Http1Peer & { readonly expectsContinue: boolean },
  ) {
    this.#request = request
    this.#response = response
    this.#client = client
    this.held = held
    this.#expectsContinue = expectsContinue
    this.bodyBytes = bodyBytesOf(request)
  }

  /** Its connection has closed. */
  closed(): void {
    if (this.#response.writableFinished) return
    this.#isGone = true
    this.#gone?.abort(gone())
    this.#onClosed?.()
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get target(): string {
    return this.#request.url ?? '/'
  }

  get headers(): ReadonlyMap<string, string> {
    this.#headers ??= headersOf(this.#request)
    return this.#headers
  }

  get caller(): Caller {
    const { peer, clientCertificate } = this.#client
    this.#caller ??= {
      ...{ peer, clientCertificate, metadata: this.headers },
      repeats: (name) => isRepeated(this.#request, name),
    }
    return this.#caller
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController()
      if (this.#isGone) this.#gone.abort(gone())
    }
    return this.#gone.signal
  }

  whyCancelled(): StatusError | undefined {
    return this.#isGone ? gone() : undefined
  }

  body(): Http1Body {
    this.#body ??= new Http1Body(this.#request, () => this.#begin())
    return this.#body
  }

  bodyAtHand(): Buffer | undefined {
    const { bodyBytes } = this
    if (bodyBytes === undefined || bodyBytes > AT_HAND_BYTES || this.#body !== undefined) return undefined
    // The parser may not have said yet that the message is complete.
    if (this.#request.readableLength !== bodyBytes) return undefined
    this.#isRead = true
    return this.#request.read() ?? undefined
  }

  /** Whether what is left of the body has not been read. */
  get hasUnread(): boolean {
    return !this.#isRead && !this.#request.readableEnded && !this.#request.complete
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

  async send({ status, head, body }: CheckedAnswer): Promise<number> {
    const response = this.#response
    if (this.#isGone || response.destroyed) {
      body?.discard()
      throw gone()
    }
    try {
      // Here and not in an async function of its own, which costs a short answer two turns of the microtasks.
      const sizeBytes = body === undefined ? 0 : body.sizeBytes
      const hasBody = status !== 204 && status !== 304
      if (this.isUndecided) this.endConnection()
      const whole = hasBody && sizeBytes !== undefined ? [...head, 'content-length', String(sizeBytes)] : [...head]
      if (body === undefined || this.method === 'HEAD' || !hasBody) {
        body?.discard()
        response.writeHead(status, whole).end()
        await this.#finished()
        return 0
      }
      // Bytes in memory are taken before the head is sent: they can no longer fail then.
      const bytes = (sizeBytes ?? Number.POSITIVE_INFINITY) <= ONE_PIECE_BYTES ? body.bytesAtHand() : undefined
      if (bytes !== undefined) {
        this.#stalledMs = 0
        this.#isWriting = true
        response.writeHead(status, whole)
        if (bytes.length <= SHORT_BYTES) this.#writeShort(bytes)
        else response.end(bytes)
        await this.#finished()
        return bytes.length
      }
      response.writeHead(status, whole)
      const { held, signal } = this
      const write = (bytes: Buffer): Promise<void> => this.#waiting(() => this.#write(bytes))
      const sentBytes = await sendBody(body, { held, signal, write, room: undefined })
      response.end()
      await this.#finished()
      return sentBytes
    } catch (error) {
      // Before the last byte, so that the client does not take the answer for whole.
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

  /**
   * Node joins a text with the head. `end` alone would add an empty piece, and Node sends several pieces as a list, which
   * takes a quarter of the CPU of such an answer.
   */
  #writeShort(bytes: Buffer): void {
    const { socket } = this.#response
    socket?.cork()
    this.#response.write(bytes.toString('latin1'), 'latin1')
    socket?.uncork()
    this.#response.end()
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onClosed = () => reject(gone())
      this.#response.write(bytes, (error) => {
        this.#onClosed = undefined
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

  /** Resolves when the answer has left. Rejects if the connection closed before. */
  #finished(): Promise<void> | undefined {
    const response = this.#response
    const { socket } = response
    // The system took it at once, as it takes most answers. Node says so a turn later.
    if (socket !== null && !socket.destroyed && socket.writableLength === 0) return undefined
    return new Promise((resolve, reject) => {
      if (response.writableFinished) return resolve()
      if (this.#isGone || response.destroyed) return reject(gone())
      this.#onClosed = () => reject(gone())
      response.once('finish', resolve)
    })
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

/** Without an allocation: it is asked of each request. */
export const isRepeated = ({ rawHeaders }: IncomingMessage, name: string): boolean => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] as string
    if (header.length === name.length && header.toLowerCase() === name) count += 1
  }
  return count > 1
}

/** The parser has refused a length that is no number, and a second one. */
const bodyBytesOf = ({ headers }: IncomingMessage): number | undefined => {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}
