import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { framed, type Request, unframed } from '../load/request.js'

/** How a call ended, as its client saw it. */
export interface Ended {
  /** The gRPC status. */
  readonly code: number
  readonly text: string
  readonly messages: readonly Buffer[]
}

/**
 * Above the largest upload. By default a client of Node resets a stream, with ENHANCE_YOUR_CALM, whose answer comes while
 * 10 MB of its request wait to be sent: that of a blob that is there already comes at once.
 */
const MAX_SESSION_MIB = 64

/** What came last of the fields of a call: the status is in its trailers, or in a head that is all of the answer. */
const lastFields = new WeakMap<ClientHttp2Stream, IncomingHttpHeaders>()

/** A connection of Node's own HTTP/2 client, which can be stalled, cancelled and cut as an application does it. */
export class Caller {
  readonly #session: ClientHttp2Session

  private constructor(session: ClientHttp2Session) {
    this.#session = session
    // A connection that breaks fails the calls on it, and those tell.
    session.on('error', () => {})
  }

  static async open(port: number): Promise<Caller> {
    const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: MAX_SESSION_MIB })
    await once(session, 'connect')
    return new Caller(session)
  }

  /** Begins a call; its caller sends the messages and the end. */
  begin(path: string): ClientHttp2Stream {
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    // From the beginning: a call may have ended before anybody waits for its end.
    for (const event of ['response', 'trailers'] as const) {
      stream.on(event, (fields: IncomingHttpHeaders) => void lastFields.set(stream, fields))
    }
    return stream
  }

  /** Begins a call and sends all of its request. */
  send({ path, messages }: Request): ClientHttp2Stream {
    const stream = this.begin(path)
    for (const message of messages) stream.write(framed(message))
    stream.end()
    return stream
  }

  /** A whole call, which has to end well. */
  async call(request: Request): Promise<readonly Buffer[]> {
    const { code, text, messages } = await ended(this.send(request))
    if (code !== 0) throw new Error(`${request.path} ended with code ${code}: ${text}`)
    return messages
  }

  close(): void {
    this.#session.close()
  }

  /** Cuts the connection, whatever is under way on it. */
  cut(): void {
    this.#session.destroy()
  }
}

/** Resolves at the first of the events. */
export const firstOf = (stream: ClientHttp2Stream, ...events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const heard = (): void => {
      for (const event of events) stream.off(event, heard)
      resolve()
    }
    for (const event of events) stream.on(event, heard)
  })

export const cancel = (stream: ClientHttp2Stream): void => stream.close(constants.NGHTTP2_CANCEL)

/** Waits for the end of a call. */
export const ended = (stream: ClientHttp2Stream): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    const settle = (): void => {
      const status = lastFields.get(stream) ?? {}
      const code = status['grpc-status']
      if (code === undefined) reject(new Error(`a call ended without a status, by code ${stream.rstCode} of HTTP/2`))
      else
        resolve({
          code: Number(code),
          text: String(status['grpc-message'] ?? ''),
          messages: unframed(Buffer.concat(chunks)),
        })
    }
    if (stream.destroyed) settle()
    else stream.once('close', settle)
  })
