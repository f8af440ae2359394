import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isStatus, StatusError } from '../base/status-error.js'
import type { Log } from '../log/log.js'
import { retryDelayMsOf } from '../proto/error-details.js'
import type { Caller, Gate, PageRequest } from '../rpc/gate.js'
import type { InFlight } from '../work/in-flight.js'
import { type Client, clientOf } from './client.js'

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  /** A stream is sent as fast as the client reads, and destroyed when the client goes. */
  readonly body: string | Readable
  readonly headers?: Readonly<Record<string, string>>
}

export interface HandledRequest extends PageRequest {
  /** Who asks, for the log: `token ann` if the page needs a permission, and the address. */
  readonly by: { readonly identity?: string; readonly peer: string }
  /** The address that the client used, as it says. */
  readonly host?: string | undefined
}

/** Handles requests for one path. `signal` aborts when the client disconnects. Request bodies are not read. */
export interface HttpHandler {
  (signal: AbortSignal, request: HandledRequest): Promise<HttpAnswer>
  /** Default: GET and HEAD. */
  readonly methods?: readonly string[]
}

const MAX_CONNECTION_MS = 60_000

const plain = (status: number, body: string, headers: Record<string, string> = {}): HttpAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
  headers,
})

/** The HTTP pages of a listener, for requests other than gRPC, over HTTP/1 and HTTP/2. */
export class HttpPages {
  readonly #handlers: ReadonlyMap<string, HttpHandler>
  readonly #guard: PageGuard | undefined
  readonly #log: Log
  readonly #inFlight: InFlight

  constructor(handlers: ReadonlyMap<string, HttpHandler>, { log, inFlight, guard }: PagesParts) {
    this.#handlers = handlers
    this.#guard = guard
    this.#log = log
    this.#inFlight = inFlight
  }

  has(target: string): boolean {
    return this.#handlers.has(pathOf(target))
  }

  /** Passes the answer to `send`, which must not reject. Never fails. */
  answer(request: HttpRequest, send: (answer: HttpAnswer) => void | Promise<void>): void {
    this.#inFlight.during(this.#answer(request).then(send))
  }

  async #answer({ method, target, signal, caller }: HttpRequest): Promise<HttpAnswer> {
    const path = pathOf(target)
    const handler = this.#handlers.get(path)
    if (handler === undefined) return plain(404, 'not found\n')
    const methods = handler.methods ?? ['GET', 'HEAD']
    if (method === undefined || !methods.includes(method))
      return plain(405, `only ${methods.join(' and ')}\n`, { allow: methods.join(', ') })
    try {
      const guard = this.#guard?.paths.has(path) ? this.#guard : undefined
      const visitor = await guard?.gate.admitOperator(caller, { method, target })
      const by = { ...(visitor && { identity: visitor.identity }), peer: caller.peer }
      return await handler(signal, { method, target, by, host: hostOf(caller) })
    } catch (error) {
      if (isStatus(error, 'UNAUTHENTICATED')) return plain(401, `${error.message}\n`, { 'www-authenticate': CHALLENGE })
      if (isStatus(error, 'PERMISSION_DENIED')) return plain(403, `${error.message}\n`)
      if (isStatus(error, 'RESOURCE_EXHAUSTED')) return plain(429, `${error.message}\n`, retryAfter(error))
      this.#log.error('could not answer an HTTP request', { path, error: StatusError.from(error) })
      return plain(500, 'internal error\n')
    }
  }
}

/** Pages that need a permission. */
export interface PageGuard {
  readonly gate: Gate
  readonly paths: ReadonlySet<string>
}

interface PagesParts {
  readonly log: Log
  readonly inFlight: InFlight
  readonly guard?: PageGuard | undefined
}

/** Asks a browser for credentials. */
const CHALLENGE = 'Basic realm="remexec"'

/** In whole seconds (RFC 9110, 10.2.3). */
const retryAfter = (error: StatusError): Record<string, string> => {
  const delayMs = retryDelayMsOf(error)
  return delayMs === undefined ? {} : { 'retry-after': String(Math.ceil(delayMs / 1000)) }
}

export interface HttpRequest {
  readonly method: string | undefined
  /** The raw request target, including the query. */
  readonly target: string
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  readonly caller: Caller
}

/** Only what an address may consist of, because a client may send anything. */
const hostOf = ({ metadata }: Caller): string | undefined => {
  const host = metadata.get('host') ?? metadata.get(':authority')
  return typeof host === 'string' && /^[\w.:[\]-]{1,255}$/.test(host) ? host : undefined
}

const pathOf = (target: string): string => target.replace(/\?.*$/s, '')

export const clientGone = (): StatusError => new StatusError('CANCELLED', 'the client is gone')

/** A connection that may know its client, for streams that are not sockets. */
type Connection = Socket & { readonly client?: Client }

/** The HTTP/1.1 server of a listener. It does not listen itself; connections are passed to it. */
export const httpServer = (pages: HttpPages): Server => {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    request.socket.once('close', () => gone.abort(clientGone()))
    const { client = clientOf(request.socket) } = request.socket as Connection
    const repeats = (name: string): boolean => isRepeated(request, name)
    const caller = { ...client, metadata: textHeaders(request), repeats }
    const asked = { method: request.method, target: request.url ?? '/', signal: gone.signal, caller }
    pages.answer(asked, (found) => send(request, response, found))
  })
  // One request per connection, which is enough for probes, and a maximum lifetime. A server that does not listen
  // itself gets none of Node's checks against slow requests.
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), MAX_CONNECTION_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
  return server
}

const textHeaders = ({ headers }: IncomingMessage): ReadonlyMap<string, string> =>
  new Map(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

const isRepeated = ({ rawHeaders }: IncomingMessage, name: string): boolean =>
  rawHeaders.filter((header, at) => at % 2 === 0 && header.toLowerCase() === name).length > 1

const send = async (request: IncomingMessage, response: ServerResponse, answer: HttpAnswer): Promise<void> => {
  const { status, contentType, body, headers } = answer
  const head = { 'content-type': contentType, connection: 'close', ...headers }
  if (typeof body !== 'string') {
    response.writeHead(status, head)
    // A client that goes, or a file that cannot be read: the connection ends before its last chunk, which says so.
    await pipeline(body, response).catch(() => {})
    return
  }
  response.writeHead(status, { ...head, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
