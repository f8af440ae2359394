import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FrameType, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { FrameReader } from '../../../src/server/http2/frame/reader.js'
import { HeaderDecoder } from '../../../src/server/http2/hpack/decoder.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { until } from '../../until.js'

/** Any frame, valid or not (RFC 9113, 4.1). */
export const frame = (type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

export const SETTINGS = frame(FrameType.SETTINGS, 0, 0)
export const SETTINGS_ACK = frame(FrameType.SETTINGS, 1, 0)

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** The header block of a gRPC request. */
export const requestBlock = (path: string, more: readonly (readonly [string, string])[] = []): Buffer =>
  encodeFields([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'localhost'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ...more,
  ])

/** A message behind its gRPC prefix. */
export const message = (bytes: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

export interface Heard {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
  /** The fields of a HEADERS frame. */
  readonly fields: Readonly<Record<string, string>>
}

/** A client that sends raw frames and follows no rule of the protocol itself. */
export class RawClient {
  readonly socket: Socket
  readonly heard: Heard[] = []
  isClosed = false
  readonly #reader: FrameReader
  readonly #decoder = new HeaderDecoder(1 << 20)
  #data: Buffer[] = []
  #dataStream = 0

  private constructor(socket: Socket) {
    this.socket = socket
    this.#reader = new FrameReader({
      frame: (type, flags, streamId, payload) => this.#hear(type, flags, streamId, Buffer.from(payload)),
      dataBegins: (streamId) => {
        this.#dataStream = streamId
        this.#data = []
      },
      data: (bytes) => this.#data.push(Buffer.from(bytes)),
      dataEnds: (isEnd) => this.#hear(FrameType.DATA, isEnd ? 1 : 0, this.#dataStream, Buffer.concat(this.#data)),
    })
    // The reader is that of a server and expects the preface, which only clients send.
    this.#reader.read(PREFACE)
    socket.on('data', (chunk) => this.#reader.read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
  }

  static open(port: number, ...writes: readonly Buffer[]): Promise<RawClient> {
    return RawClient.from('127.0.0.1', port, ...writes)
  }

  /** Connects from one of the addresses of this machine. */
  static async from(localAddress: string, port: number, ...writes: readonly Buffer[]): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    await once(socket, 'connect')
    const client = new RawClient(socket)
    client.write(...writes)
    return client
  }

  /** Connects with the greeting of a well-behaved client. */
  static greeted(port: number, settings = SETTINGS): Promise<RawClient> {
    return RawClient.open(port, PREFACE, settings, SETTINGS_ACK)
  }

  write(...frames: readonly Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames))
  }

  /** Like `write`, but resolves when the bytes have left or the connection has closed. */
  async sent(bytes: Buffer): Promise<void> {
    if (this.socket.destroyed) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.socket.off('close', done)
        resolve()
      }
      this.socket.once('close', done)
      this.socket.write(bytes, done)
    })
  }

  /** The first frame that matches, received already or later; undefined if the connection ends before. */
  async until(matches: (heard: Heard) => boolean): Promise<Heard | undefined> {
    await until(() => this.isClosed || this.heard.some(matches), `${matches}`)
    return this.heard.find(matches)
  }

  async closed(): Promise<void> {
    await until(() => this.isClosed, 'the end of the connection')
  }

  /** The error code with which the server ended the connection. */
  async goAwayCode(): Promise<number | undefined> {
    const heard = await this.until(({ type }) => type === FrameType.GOAWAY)
    return heard?.payload.readUInt32BE(4)
  }

  destroy(): void {
    this.socket.destroy()
  }

  #hear(type: number, flags: number, streamId: number, payload: Buffer): void {
    const lines = type === FrameType.HEADERS ? this.#decoder.decode(payload).lines : []
    const pairs = lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? ''] as const] : []))
    this.heard.push({ type, flags, streamId, payload, fields: Object.fromEntries(pairs) })
  }
}
