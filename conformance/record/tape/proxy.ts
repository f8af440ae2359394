import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { FrameReader } from './frame-reader.js'
import type { Tape, TapedCall } from './tape.js'

const UNAVAILABLE = '14'
const WRITE_PATH = '/google.bytestream.ByteStream/Write'
const WINDOW_BYTES = 1 << 20

export interface ProxySettings {
  readonly listen: { readonly host: string; readonly port: number }
  /** `http://host:port` of the server that answers. */
  readonly upstream: string
  readonly tape: Tape
  /** Breaks off the first upload above this many bytes, as a lost connection would. */
  readonly breakUploadBytes: number | undefined
}

/**
 * A gRPC proxy that records its traffic on a tape. It forwards the bytes of HTTP/2 streams, not messages: unknown
 * methods, all four call shapes, metadata, trailers, deadlines and resets pass unchanged. Pipes preserve flow control.
 * Each client connection has its own connection to the server.
 */
export class RecordingProxy {
  readonly #server: Http2Server
  readonly #settings: ProxySettings
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #open = new Set<Promise<void>>()
  #hasBroken = false

  private constructor(settings: ProxySettings) {
    this.#settings = settings
    this.#server = createServer({ settings: { initialWindowSize: WINDOW_BYTES } })
    this.#server.on('session', (session) => this.#accept(session))
    // A client that speaks another protocol, or disconnects, leaves nothing to record.
    this.#server.on('sessionError', () => {})
  }

  /** Rejects if the address is in use or the server cannot be reached. */
  static async listen(settings: ProxySettings): Promise<RecordingProxy> {
    await reach(settings.upstream)
    const proxy = new RecordingProxy(settings)
    const { host, port } = settings.listen
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', (error) => reject(new Error(`cannot listen on ${host}:${port}: ${error.message}`)))
      proxy.#server.listen(port, host, resolve)
    })
    return proxy
  }

  /** `host:port` as bound. */
  get address(): string {
    const { address, port, family } = this.#server.address() as AddressInfo
    return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`
  }

  /** Accepts no new connections, gives open calls `drainMs` to end, and then cancels them. */
  async close(drainMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, drainMs)
    })
    await Promise.race([Promise.all(this.#open), patience])
    clearTimeout(timer)
    for (const session of this.#sessions) session.destroy()
    await closed
  }

  #accept(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.setLocalWindowSize(8 * WINDOW_BYTES)
    const upstream = connect(this.#settings.upstream, { settings: { initialWindowSize: WINDOW_BYTES } })
    upstream.once('connect', () => upstream.setLocalWindowSize(8 * WINDOW_BYTES))
    // Each stream reports the end of its connection; an unhandled error would end the process.
    session.on('error', () => {})
    upstream.on('error', () => {})
    upstream.on('goaway', (code) => {
      if (!session.destroyed) session.goaway(code)
    })
    session.once('close', () => {
      this.#sessions.delete(session)
      upstream.destroy()
    })
    upstream.once('close', () => {
      if (!session.destroyed) session.close()
    })
    session.on('stream', (stream, headers) => {
      const call = this.#forward(stream, headers, upstream)
      this.#open.add(call)
      call.then(() => this.#open.delete(call))
    })
  }

  /** Resolves when both sides of the call have ended. */
  #forward(client: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session): Promise<void> {
    const { tape } = this.#settings
    const taped = tape.begin(headers[':path'] ?? '', headers)
    client.on('error', () => {})
    if (upstream.destroyed || upstream.closed) {
      refuse(client, 'the recorder lost its connection to the server')
      tape.end(taped, { by: 'server', resetCode: constants.NGHTTP2_REFUSED_STREAM })
      return Promise.resolve()
    }
    const breaker = new AbortController()
    const server = upstream.request(forwarded(headers), { signal: breaker.signal })
    server.on('error', () => {})
    // `close` would half-close the request before the reset, and half an upload would look complete.
    const breakOff = (): void => breaker.abort()
    this.#copyRequests(client, server, taped, breakOff)
    copyResponses(client, server, taped, tape)
    const isLeft = (): void => {
      if (server.closed || server.destroyed) return
      tape.end(taped, { by: 'client', resetCode: client.rstCode })
      breakOff()
    }
    client.once('aborted', isLeft).once('close', isLeft)
    return new Promise((resolve) => server.once('close', resolve))
  }

  #copyRequests(client: ServerHttp2Stream, server: ClientHttp2Stream, taped: TapedCall, breakOff: () => void): void {
    const { tape, breakUploadBytes } = this.#settings
    const frames = new FrameReader(taped.headers['grpc-encoding']?.toString())
    let sentBytes = 0
    client.on('data', (chunk: Buffer) => {
      sentBytes += chunk.length
      for (const message of framesOf(frames, chunk, tape)) tape.add(taped, true, message)
      const isToBreak = taped.path === WRITE_PATH && breakUploadBytes !== undefined && sentBytes > breakUploadBytes
      if (!isToBreak || this.#hasBroken) return
      this.#hasBroken = true
      tape.end(taped, { by: 'recorder', resetCode: constants.NGHTTP2_CANCEL })
      refuse(client, 'the recorder broke the upload off')
      breakOff()
    })
    client.pipe(server)
  }
}

const copyResponses = (client: ServerHttp2Stream, server: ClientHttp2Stream, taped: TapedCall, tape: Tape): void => {
  let trailers: IncomingHttpHeaders | undefined
  const endWith = (came: IncomingHttpHeaders): void => {
    trailers = came
    tape.end(taped, { by: 'status', trailers: came })
  }
  server.once('response', (answer, flags) => {
    if (client.destroyed || client.headersSent) return
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    client.respond({ ...answer }, { endStream, waitForTrailers: !endStream })
    if (endStream) return endWith(answer)
    const frames = new FrameReader(answer['grpc-encoding']?.toString())
    server.on('data', (chunk: Buffer) => {
      for (const message of framesOf(frames, chunk, tape)) tape.add(taped, false, message)
    })
    server.pipe(client)
  })
  server.once('trailers', endWith)
  client.once('wantTrailers', () => client.sendTrailers({ ...trailers }))
  server.once('close', () => {
    tape.end(taped, { by: 'server', resetCode: server.rstCode })
    client.unpipe(server)
    client.resume()
    if (client.closed || client.destroyed) return
    if (trailers === undefined) client.close(server.rstCode || constants.NGHTTP2_INTERNAL_ERROR)
    else if (client.sentTrailers !== undefined || client.sentHeaders?.['grpc-status'] !== undefined) stopReading(client)
    else client.once('wantTrailers', () => stopReading(client))
  })
}

/** The server ended the call before the client's last message: tells the client to stop sending. */
const stopReading = (client: ServerHttp2Stream): void => {
  // A reset would overtake trailers written in the same turn of the event loop.
  setImmediate(() => {
    if (!client.readableEnded) client.close(constants.NGHTTP2_NO_ERROR)
  })
}

const framesOf = (frames: FrameReader, chunk: Buffer, tape: Tape): Buffer[] => {
  if (tape.failure !== undefined) return []
  try {
    return frames.push(chunk)
  } catch (error) {
    // The call continues: a failing recorder must not change the traffic.
    tape.fail(error instanceof Error ? error.message : String(error))
    return []
  }
}

const refuse = (client: ServerHttp2Stream, message: string): void => {
  if (client.destroyed || client.headersSent) {
    client.close(constants.NGHTTP2_CANCEL)
    return
  }
  client.unpipe()
  client.resume()
  client.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAVAILABLE, 'grpc-message': message },
    { endStream: true },
  )
  setImmediate(() => client.close(constants.NGHTTP2_NO_ERROR))
}

const forwarded = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => {
  const { ':authority': _, ...rest } = headers
  return rest
}

const reach = (upstream: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const session = connect(upstream)
    const give = (reason: string): void => {
      clearTimeout(timer)
      session.destroy()
      reject(new Error(`cannot reach ${upstream.replace(/^http/, 'grpc')}: ${reason}`))
    }
    const timer = setTimeout(give, 5_000, 'no HTTP/2 connection within 5 s')
    session.once('error', (error) => give(error.message || String('code' in error ? error.code : error)))
    session.once('remoteSettings', () => {
      clearTimeout(timer)
      session.close()
      resolve()
    })
  })
