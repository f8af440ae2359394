import { connect, type Socket } from 'node:net'
import { IDLE_MS } from './connection.js'
import type { LoadResult } from './request.js'
import type { Target } from './target.js'

/** One request over HTTP/1.1. */
export interface HttpRequest {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly body?: Buffer
  /** The bytes that a working server answers with. The bare server learns them from the header `x-bench-shape`. */
  readonly answerBytes: number
}

interface Prepared {
  readonly head: string
  readonly request: HttpRequest
}

const prepare = (address: string, request: HttpRequest): Prepared => {
  const { method, path, body, answerBytes } = request
  const length = body === undefined ? '' : `content-length: ${body.length}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${address}\r\nx-bench-shape: ${answerBytes}\r\n${length}\r\n`
  return { head, request }
}

const READ_BYTES = 256 << 10
const HEAD_END = '\r\n\r\n'

interface Waiting {
  readonly request: HttpRequest
  readonly sentMs: number
  /** Of an answer whose head has not ended. */
  head: string
  /** Of the body that is still to come. */
  left: number | undefined
  readonly resolve: (latencyMs: number) => void
  readonly reject: (error: Error) => void
}

/** As much of HTTP/1.1 as one request after the other takes. Contents are counted, in one buffer, and not kept. */
class HttpConnection {
  readonly #socket: Socket
  #waiting: Waiting | undefined

  constructor(host: string, port: number, onConnected: (error?: Error) => void) {
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.#take(bytes as Buffer, length)
      return true
    }
    this.#socket = connect({ host, port, noDelay: true, onread: { buffer: Buffer.alloc(READ_BYTES), callback } })
    this.#socket.once('connect', () => onConnected())
    this.#socket.setTimeout(IDLE_MS, () => this.#socket.destroy(new Error(`no byte came for ${IDLE_MS} ms`)))
    this.#socket.on('error', (error) => {
      onConnected(error)
      this.#fail(error)
    })
    this.#socket.once('close', () => this.#fail(new Error('the server closed the connection')))
    this.#socket.resume()
  }

  static open(address: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(`http://${address}`)
    return new Promise((resolve, reject) => {
      const connection: HttpConnection = new HttpConnection(hostname, Number(port), (error) =>
        error === undefined ? resolve(connection) : reject(error),
      )
    })
  }

  call({ head, request }: Prepared): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { request, sentMs: performance.now(), head: '', left: undefined, resolve, reject }
      this.#socket.cork()
      this.#socket.write(head, 'latin1')
      if (request.body !== undefined) this.#socket.write(request.body)
      this.#socket.uncork()
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer, length: number): void {
    const waiting = this.#waiting
    if (waiting === undefined) return void this.#socket.destroy(new Error('bytes came that nobody asked for'))
    let rest = length
    if (waiting.left === undefined) {
      const before = waiting.head.length
      waiting.head += bytes.toString('latin1', 0, length)
      const end = waiting.head.indexOf(HEAD_END)
      if (end < 0) return
      rest -= end + HEAD_END.length - before
      waiting.left = waiting.request.answerBytes
      const fault = faultOf(waiting.head.slice(0, end), waiting.request)
      if (fault !== undefined) return void this.#socket.destroy(new Error(fault))
    }
    waiting.left -= rest
    if (waiting.left < 0) return void this.#socket.destroy(new Error('more bytes came than the answer has'))
    if (waiting.left > 0) return
    this.#waiting = undefined
    waiting.resolve(performance.now() - waiting.sentMs)
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }
}

const STATUS = /^HTTP\/1\.1 20[0-4] /

const faultOf = (head: string, { method, path, answerBytes }: HttpRequest): string | undefined => {
  const bytes = Number(
    /\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? (head.startsWith('HTTP/1.1 204') ? 0 : Number.NaN),
  )
  if (STATUS.test(head) && bytes === answerBytes) return undefined
  return `${method} ${path}: expected a success with ${answerBytes} bytes, got ${head.replaceAll('\r\n', ', ')}`
}

/** Sends the requests over so many kept connections, one at a time on each. Everything is there before the clock starts. */
export const overHttp = async (
  { address }: Target,
  requests: readonly HttpRequest[],
  concurrency: number,
): Promise<LoadResult> => {
  const queue = requests.map((request) => prepare(address, request)).reverse()
  const connections = await Promise.all(Array.from({ length: concurrency }, () => HttpConnection.open(address)))
  const latenciesMs: number[] = []
  const lane = async (connection: HttpConnection): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) latenciesMs.push(await connection.call(next))
  }
  const sleep = stayAwake()
  try {
    const startMs = performance.now()
    await Promise.all(connections.map(lane))
    const seconds = (performance.now() - startMs) / 1000
    const sum = (of: (request: HttpRequest) => number): number => requests.reduce((bytes, each) => bytes + of(each), 0)
    const sent = sum(({ body }) => body?.length ?? 0) / requests.length
    const received = sum(({ answerBytes }) => answerBytes) / requests.length
    return { seconds, requests: requests.length, latenciesMs, wireBytes: { sent, received } }
  } finally {
    sleep()
    for (const connection of connections) connection.close()
  }
}

/**
 * Lets the event loop ask for bytes again and again instead of waiting for them. Waking another processor takes the server 10 us
 * of CPU for each answer, which a slower load, that always has something to do, would spare a faster server.
 */
const stayAwake = (): (() => void) => {
  let isOver = false
  const ask = (): void => {
    if (!isOver) setImmediate(ask)
  }
  ask()
  return () => {
    isOver = true
  }
}
