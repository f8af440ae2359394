import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { guardedTimeout } from '../../../base/timers.js'
import { type Agents, outgoingAgents } from '../../../outgoing/http-agents.js'

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
  /** The caller must read it to its end or destroy it. */
  readonly body: IncomingMessage
}

/** The server refused a request. */
export class GcsRefusal extends Error {
  readonly code: number
  readonly errors: readonly { readonly reason: string }[]

  constructor(code: number, message: string, reason: string) {
    super(message)
    this.code = code
    this.errors = [{ reason }]
  }
}

/** Bound on the error body that is read. */
const MAX_REFUSAL_BYTES = 64 * 1024

/**
 * Sends the requests to a bucket. Google's library only provides the credentials: it has no connect timeout, its
 * streams ignore abort signals, and some of their failures cannot be caught.
 */
export class GcsRequests {
  readonly #agents: Agents
  readonly #connectTimeoutMs: number

  constructor({ maxConnections, connectTimeoutMs }: GcsRequestsOptions) {
    this.#connectTimeoutMs = connectTimeoutMs
    this.#agents = outgoingAgents({ keepAlive: true, maxSockets: maxConnections })
  }

  /**
   * Resolves with the response head for a status below 400, else rejects with a GcsRefusal. Redirects are not followed.
   */
  async send(url: string, { method, headers = {}, body, signal }: GcsRequest): Promise<GcsAnswer> {
    const isSecure = url.startsWith('https:')
    const options = { method, signal, headers: { ...headers, ...(body && { 'content-length': body.length }) } }
    const request = isSecure
      ? httpsRequest(url, { ...options, agent: this.#agents.https })
      : httpRequest(url, { ...options, agent: this.#agents.http })
    const answered = once(request, 'response')
    request
      .once('socket', (socket) => this.#expectConnection(socket))
      // Later errors are reported by the response.
      .on('error', () => {})
    request.end(body)
    const [answer] = (await answered) as [IncomingMessage]
    const { statusCode: status = 0 } = answer
    if (status >= 400) throw await refusalOf(status, answer)
    return { status, headers: answer.headers, body: answer }
  }

  #expectConnection(socket: Socket): void {
    if (!socket.connecting) return
    const late = Object.assign(new Error('the server did not accept the connection'), { code: 'ETIMEDOUT' })
    const timer = guardedTimeout(() => socket.destroy(late), this.#connectTimeoutMs)
    socket.once('connect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  }

  close(): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
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
