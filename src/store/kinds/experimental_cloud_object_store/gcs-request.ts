import { once } from 'node:events'
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface GcsRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly signal: AbortSignal
}

export interface GcsRequestsOptions {
  readonly maxConnections: number
  readonly connectTimeoutMs: number
}

export interface GcsAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Has to be read to its end or destroyed. */
  readonly body: IncomingMessage
}

/** A request was refused. */
export class GcsRefusal extends Error {
  readonly code: number
  readonly errors: readonly { readonly reason: string }[]

  constructor(code: number, message: string, reason: string) {
    super(message)
    this.code = code
    this.errors = [{ reason }]
  }
}

/** No refusal takes more room to say why. */
const MAX_REFUSAL_BYTES = 64 * 1024

/**
 * The requests to a bucket. Google's library, which finds the credentials, knows no time for connecting, and makes streams of bytes
 * that cannot be given up by a signal, and some of whose failures nobody can catch.
 */
export class GcsRequests {
  readonly #plain: HttpAgent
  readonly #secure: HttpsAgent

  readonly #connectTimeoutMs: number

  constructor({ maxConnections, connectTimeoutMs }: GcsRequestsOptions) {
    this.#connectTimeoutMs = connectTimeoutMs
    const options = { keepAlive: true, maxSockets: maxConnections }
    this.#plain = new HttpAgent(options)
    this.#secure = new HttpsAgent(options)
  }

  /** Answers statuses below 400, once the head has come; rejects with a GcsRefusal of others. Nothing is followed. */
  async send(url: string, { method, headers = {}, body, signal }: GcsRequest): Promise<GcsAnswer> {
    const isSecure = url.startsWith('https:')
    const options = { method, signal, headers: { ...headers, ...(body && { 'content-length': body.length }) } }
    const request = isSecure
      ? httpsRequest(url, { ...options, agent: this.#secure })
      : httpRequest(url, { ...options, agent: this.#plain })
    const answered = once(request, 'response')
    request
      .once('socket', (socket) => this.#expectConnection(socket))
      // What happens to it later is told by the answer.
      .on('error', () => {})
    request.end(body)
    const [answer] = (await answered) as [IncomingMessage]
    const { statusCode: status = 0 } = answer
    if (status >= 400) throw await refusalOf(status, answer)
    return { status, headers: answer.headers, body: answer }
  }

  #expectConnection(socket: Socket): void {
    if (!socket.connecting) return
    const late = Object.assign(new Error('nobody took the connection'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => socket.destroy(late), this.#connectTimeoutMs)
    socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}

const refusalOf = async (status: number, answer: IncomingMessage): Promise<GcsRefusal> => {
  if (Number(answer.headers['content-length'] ?? 0) > MAX_REFUSAL_BYTES) {
    answer.destroy()
    return new GcsRefusal(status, '', '')
  }
  const text = (await buffer(answer)).toString()
  try {
    const { error } = JSON.parse(text)
    return new GcsRefusal(status, String(error.message), String(error.errors?.[0]?.reason ?? ''))
  } catch {
    return new GcsRefusal(status, text, '')
  }
}
