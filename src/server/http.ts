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

/** The plain HTTP/1.1 side of a listener. It does not listen itself: connections are handed to it. */
export const httpServer = (handlers: ReadonlyMap<string, HttpHandler>, log: Log, activity: Activity): Server => {
  const server = createServer((request, response) => {
    activity.during(answer(handlers, request, log).then((found) => send(request, response, found)))
  })
  // One request a connection, as probes make them, and a bound on its life: a server that does not listen by itself
  // gets none of Node's own checks against slow requests.
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), MAX_CONNECTION_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  })
  return server
}

const answer = async (
  handlers: ReadonlyMap<string, HttpHandler>,
  request: IncomingMessage,
  log: Log,
): Promise<HttpAnswer> => {
  const path = (request.url ?? '/').replace(/\?.*$/s, '')
  const handler = handlers.get(path)
  if (handler === undefined) return plain(404, 'not found\n')
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'only GET and HEAD\n')
  const gone = new AbortController()
  request.socket.once('close', () => gone.abort(new StatusError('CANCELLED', 'the client is gone')))
  try {
    return await handler(gone.signal)
  } catch (error) {
    log.error('could not answer an HTTP request', { path, error: StatusError.from(error) })
    return plain(500, 'internal error\n')
  }
}

const send = (request: IncomingMessage, response: ServerResponse, { status, contentType, body }: HttpAnswer): void => {
  const length = Buffer.byteLength(body)
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {}
  response.writeHead(status, { 'content-type': contentType, 'content-length': length, connection: 'close', ...allow })
  response.end(request.method === 'HEAD' ? undefined : body)
}
