import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
} from 'node:http2'
import { Duplex } from 'node:stream'
import { Flag, FrameType } from '../../../src/server/http2/frame/frame.js'
import { FrameReader, type FrameSink } from '../../../src/server/http2/frame/reader.js'

type Done = (error?: Error | null) => void

/** One end of a connection in memory: `onBytes` gets written bytes, and bytes passed to `received` can be read. */
class MemorySocket extends Duplex {
  constructor(readonly onBytes: (bytes: Buffer) => void) {
    super()
  }

  received(bytes: Buffer): void {
    this.push(bytes)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Done): void {
    this.onBytes(chunk)
    callback()
  }
}

/** Calls back with the header block of each HEADERS frame in the bytes that are read. */
export const blockReader = (onBlock: (block: Buffer) => void): FrameReader => {
  let fragments: Buffer[] = []
  const sink: FrameSink = {
    frame: (type, flags, _, payload) => {
      if (type !== FrameType.HEADERS && type !== FrameType.CONTINUATION) return
      const start = type === FrameType.HEADERS && (flags & Flag.PRIORITY) !== 0 ? 5 : 0
      fragments.push(Buffer.from(payload.subarray(start)))
      if ((flags & Flag.END_HEADERS) === 0) return
      onBlock(Buffer.concat(fragments))
      fragments = []
    },
    dataBegins: () => {},
    data: () => {},
    dataEnds: () => {},
  }
  return new FrameReader(sink)
}

export type Field = readonly [name: string, value: string]

/** Node's HTTP/2 client over memory, which encodes headers with nghttp2. */
export const nghttp2Client = (onBlock: (block: Buffer) => void): ClientHttp2Session => {
  const reader = blockReader(onBlock)
  const socket = new MemorySocket((bytes) => reader.read(bytes))
  const session = connect('http://localhost', { createConnection: () => socket })
  session.on('error', () => {})
  // Settings of a server: the maximum number of streams, lists of any length.
  socket.received(Buffer.from('00000c0400000000000003ffffffff000600ffffff', 'hex'))
  return session
}

/** Node's HTTP/2 server over memory. `decode` passes a block to nghttp2 and resolves with its fields. */
export const nghttp2Server = () => {
  const socket = new MemorySocket(() => {})
  let found: (fields: Field[]) => void = () => {}
  let failed: (error: Error) => void = () => {}
  const options = { maxHeaderListPairs: 1000, maxSessionMemory: 1000, settings: { maxHeaderListSize: 2 ** 24 } }
  const session = performServerHandshake(socket, options)
  session.on('error', (error: Error) => failed(error))
  session.on('stream', (stream: ServerHttp2Stream, _: IncomingHttpHeaders, __: number, raw: unknown) => {
    stream.on('error', () => {})
    const lines = raw as string[]
    found(Array.from({ length: lines.length / 2 }, (_, at): Field => [lines[2 * at] ?? '', lines[2 * at + 1] ?? '']))
    stream.close()
  })
  socket.received(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))
  socket.received(Buffer.from('000000040000000000', 'hex'))
  // A session in memory does not keep the process alive while an answer is awaited.
  const alive = setInterval(() => {}, 60_000)
  let streamId = -1
  const decode = (block: Buffer): Promise<Field[]> =>
    new Promise((resolve, reject) => {
      found = resolve
      failed = reject
      streamId += 2
      const head = Buffer.alloc(9)
      head.writeUIntBE(block.length, 0, 3)
      head[3] = FrameType.HEADERS
      head[4] = Flag.END_HEADERS | Flag.END_STREAM
      head.writeUInt32BE(streamId, 5)
      socket.received(Buffer.concat([head, block]))
    })
  const close = (): void => {
    clearInterval(alive)
    session.destroy()
  }
  return { decode, close }
}
