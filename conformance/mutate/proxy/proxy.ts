import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Mutation, Tampering } from '../mutation.js'
import { closeAfter } from './close-after.js'
import { definitionOf } from './definition-of.js'
import { TamperedCall } from './tampered-call.js'

const WINDOW_BYTES = 1 << 20

/**
 * A proxy in front of a correct server that breaks it in one way. Calls outside the mutation pass through as bytes,
 * with headers, trailers, resets and flow control. Each client connection has its own upstream connection.
 */
export class MutatingProxy {
  /** `grpc://127.0.0.1:PORT`. */
  readonly address: string
  readonly #server: ReturnType<typeof createServer>
  readonly #sessions: Set<ServerHttp2Session>

  private constructor(server: ReturnType<typeof createServer>, sessions: Set<ServerHttp2Session>) {
    this.#server = server
    this.#sessions = sessions
    this.address = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** `upstream` is `grpc://host:port`; without a mutation nothing changes. */
  static async listen(upstream: string, mutation?: Mutation): Promise<MutatingProxy> {
    const authority = upstream.replace(/^grpc:/, 'http:')
    const tampering = [mutation?.tamper() ?? []].flat()
    const sessions = new Set<ServerHttp2Session>()
    const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES } })
    server.on('session', (session) => {
      sessions.add(session)
      session.setLocalWindowSize(8 * WINDOW_BYTES)
      const behind = connect(authority, { settings: { initialWindowSize: WINDOW_BYTES } })
      behind.once('connect', () => behind.setLocalWindowSize(8 * WINDOW_BYTES))
      join(session, behind)
      session.once('close', () => sessions.delete(session))
      session.on('stream', (stream, headers) => serve(stream, headers, behind, tampering))
    })
    // A client that speaks another protocol, or disconnects, does not matter to the exam.
    server.on('sessionError', () => {})
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    return new MutatingProxy(server, sessions)
  }

  /** Ends every call and connection. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const session of this.#sessions) session.destroy()
    await closed
  }
}

const join = (front: ServerHttp2Session, behind: ClientHttp2Session): void => {
  const ignore = (): void => {}
  front.on('error', ignore)
  behind.on('error', ignore)
  front.once('close', () => behind.destroy())
  behind.once('close', () => front.destroy())
  behind.on('goaway', (code) => {
    if (!front.destroyed) front.goaway(code)
  })
}

const serve = (
  client: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  behind: ClientHttp2Session,
  tampering: readonly Tampering[],
): void => {
  client.on('error', () => {})
  const open = (sent: OutgoingHttpHeaders): ClientHttp2Stream => {
    const stream = behind.request(sent)
    stream.on('error', () => {})
    return stream
  }
  const path = headers[':path'] ?? ''
  const hooks = tampering.filter(({ method }) =>
    method === 'every method' ? true : path === `/${method.service}/${method.name}`,
  )
  if (behind.destroyed || behind.closed) client.close(constants.NGHTTP2_REFUSED_STREAM)
  else if (hooks.length === 0) passThrough(client, headers, open)
  else new TamperedCall(client, headers, { definition: definitionOf(path), hooks }, open).run()
}

const passThrough = (
  client: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  open: (headers: OutgoingHttpHeaders) => ClientHttp2Stream,
): void => {
  const server = open({ ...headers })
  let trailers: OutgoingHttpHeaders | undefined
  server.once('response', (answer, flags) => {
    if (client.destroyed) return
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    client.respond({ ...answer }, { endStream, waitForTrailers: !endStream })
    if (endStream) trailers = answer
    else server.pipe(client)
  })
  server.once('trailers', (came) => {
    trailers = { ...came }
  })
  client.once('wantTrailers', () => client.sendTrailers(trailers ?? {}))
  // A destroyed call ends its reading side too, which the server must not read as the end of the requests.
  client.pipe(server, { end: false })
  client.once('end', () => {
    if (!client.destroyed) server.end()
  })
  client.once('close', () => server.close(client.rstCode || constants.NGHTTP2_CANCEL))
  server.once('close', () => {
    client.unpipe(server)
    closeAfter(client, trailers === undefined ? server.rstCode || constants.NGHTTP2_INTERNAL_ERROR : undefined)
  })
}
