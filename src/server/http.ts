import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Log } from '../base/log.js'
import { StatusError } from '../base/status-error.js'
import type { Activity } from './call/activity.js'

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** Answers GET (and so HEAD) of one path. The signal aborts when the client is gone. */
export type HttpHandler = (signal: AbortSignal) => Promise<HttpAnswer>

const MAX_CONNECTION_MS = 60_000

const plain = (status: number, body: string): HttpAnswer => ({ status, contentType: 'text/plain; charset=utf-8', body })

/** What a listener answers to those who do not speak gRPC, by whatever version of HTTP they come. */
export class HttpPages {
  readonly #handlers: ReadonlyMap<string, HttpHandler>
  readonly #log: Log
  readonly #activity: Activity

  constructor(
    handlers: ReadonlyMap<string, HttpHandler>,
    { log, activity }: { readonly log: Log; readonly activity: Activity },
  ) {
    this.#handlers = handlers
    this.#log = log
    this.#activity = activity
  }

  has(target: string): boolean {
    return this.#handlers.has(pathOf(target))
  }

  /** Hands the answer to `send`. Never fails. */
  answer(request: HttpRequest, send: (answer: HttpAnswer) => void): void {
    this.#activity.during(this.#answer(request).then(send))
  }

  async #answer({ method, target, signal }: HttpRequest): Promise<HttpAnswer> {
    const path = pathOf(target)
    const handler = this.#handlers.get(path)
    if (handler === undefined) return plain(404, 'not found\n')
    if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET and HEAD\n')
    try {
      return await handler(signal)
    } catch (error) {
      this.#log.error('could not answer an HTTP request', { path, error: StatusError.from(error) })
      return plain(500, 'internal error\n')
    }
  }
}

export interface HttpRequest {
  readonly method: string | undefined
  /** As it came: with a query, if it has one. */
  readonly target: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

const pathOf = (target: string): string => target.replace(/\?.*$/s, '')

export const clientGone = (): StatusError => new StatusError('CANCELLED', 'the client is gone')

/** The plain HTTP/1.1 side of a listener. It does not listen itself: connections are handed to it. */
export const httpServer = (pages: HttpPages): Server => {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    request.socket.once('close', () => gone.abort(clientGone()))
    const asked = { method: request.method, target: request.url ?? '/', signal: gone.signal }
    pages.answer(asked, (found) => send(request, response, found))
  })
  // One request a connection, as probes make them, and a bound on its life: a server that does not listen by itself
  // gets none of Node's own checks against slow requests.
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), MAX_CONNECTION_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
  return server
}

const send = (request: IncomingMessage, response: ServerResponse, { status, contentType, body }: HttpAnswer): void => {
  const length = Buffer.byteLength(body)
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {}
  response.writeHead(status, { 'content-type': contentType, 'content-length': length, connection: 'close', ...allow })
  response.end(request.method === 'HEAD' ? undefined : body)
}
