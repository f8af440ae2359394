import { constants, type IncomingHttpHeaders, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { Ledger } from '../../../src/ledger/ledger.js'
import { Held } from '../../../src/server/held.js'
import { Http2Connection } from '../../../src/server/http2/connection.js'
import { ErrorCode, Flag, FrameType, HEAD_BYTES } from '../../../src/server/http2/frame/frame.js'
import { DEFAULT_LIMITS } from '../../../src/server/http2/limits.js'
import { type Frame, framesIn } from './frames.js'

/** Windows that a short session can exceed. */
const STREAM_WINDOW_BYTES = 1000
const CONNECTION_WINDOW_BYTES = 100_000
const HEADER_LIST_BYTES = 16 * 1024

/**
 * A server that takes every request, reads nothing of its body and never answers: how soon a server answers would decide what
 * state a stream is in, and is no matter of the protocol.
 */
export interface Peer {
  give(bytes: Buffer): void
  /** The verdict on what was given since the last call: empty when nothing had to be said. */
  verdict(): string
  /** Names and values of the last request that was taken, in turn. */
  readonly lastRequest: readonly string[]
  close(): void
}

const codeNames = new Map<number, string>(Object.entries(ErrorCode).map(([name, code]) => [code, name]))
const codeName = (code: number): string => codeNames.get(code) ?? `code ${code}`

/** Collects what a server says. */
class Said {
  #bytes = Buffer.alloc(0)
  #words: string[] = []
  #end: string | undefined

  bytes(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    let usedBytes = 0
    for (const frame of framesIn(this.#bytes)) {
      if (frame.bytes.length < HEAD_BYTES + frame.length) break
      usedBytes += frame.bytes.length
      this.#frame(frame)
    }
    this.#bytes = this.#bytes.subarray(usedBytes)
  }

  word(word: string): void {
    this.#words.push(word)
  }

  ended(why: string): void {
    this.#end ??= `connection ${why}`
  }

  take(): string {
    // What else is said on the way to the end depends on the order of work within a server.
    const said = this.#end ?? this.#words.sort().join(', ')
    this.#words = []
    return said
  }

  #reset(streamId: number, code: string): void {
    // So Node begins to end a session: GOAWAY may follow in a later turn.
    if (code === 'INTERNAL_ERROR') this.ended(code)
    else this.word(`reset ${streamId} ${code}`)
  }

  #frame({ type, flags, streamId, payload }: Frame): void {
    if (type === FrameType.GOAWAY) this.ended(codeName(payload.readUInt32BE(4)))
    else if (type === FrameType.RST_STREAM) this.#reset(streamId, codeName(payload.readUInt32BE(0)))
    else if (type === FrameType.HEADERS) this.word(`answered ${streamId}`)
    else if (type === FrameType.SETTINGS && (flags & Flag.ACK) !== 0) this.word('settings acknowledged')
    else if (type === FrameType.PING && (flags & Flag.ACK) !== 0) this.word(`ping answered ${payload.toString('hex')}`)
  }
}

export const ours = (): Peer => {
  const said = new Said()
  const held = new Held(new Ledger(), '127.0.0.1')
  const channel = {
    write: (parts: readonly Buffer[], written: () => void) => {
      said.bytes(Buffer.concat(parts))
      written()
    },
    pause: () => {},
    resume: () => {},
    end: () => {},
    destroy: () => {},
  }
  let lastRequest: readonly string[] = []
  const connection = new Http2Connection(channel, {
    limits: {
      ...DEFAULT_LIMITS,
      streamWindowBytes: STREAM_WINDOW_BYTES,
      connectionWindowBytes: CONNECTION_WINDOW_BYTES,
      maxHeaderListBytes: HEADER_LIST_BYTES,
    },
    held,
    now: () => 0,
    onRequest: (stream) => {
      said.word(`request ${stream.id}`)
      lastRequest = stream.head.lines
      stream.consumer = { data: () => {}, ended: () => {}, sweep: () => {}, gone: () => stream.handled() }
    },
    onError: () => {},
    onRefused: () => {},
  })
  return {
    give: (bytes) => connection.read(Buffer.from(bytes)),
    verdict: () => said.take(),
    get lastRequest() {
      return lastRequest
    },
    close: () => {
      connection.closed()
      held.close()
    },
  }
}

class MemorySocket extends Duplex {
  constructor(readonly said: Said) {
    super()
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.said.bytes(chunk)
    callback()
  }
}

/** nghttp2's server, as Node has it. */
export const nghttp2 = (): Peer => {
  const said = new Said()
  const socket = new MemorySocket(said)
  const session = performServerHandshake(socket, {
    maxHeaderListPairs: 10_000,
    maxSettings: 10_000,
    maxSessionInvalidFrames: 10_000,
    maxSessionRejectedStreams: 10_000,
    strictFieldWhitespaceValidation: false,
    settings: {
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxConcurrentStreams: DEFAULT_LIMITS.maxConcurrentStreams,
      maxHeaderListSize: HEADER_LIST_BYTES,
    },
  } as Parameters<typeof performServerHandshake>[1])
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
  session.on('error', (error: NodeJS.ErrnoException) => said.ended(error.message))
  session.on('close', () => said.ended('closed'))
  let lastRequest: readonly string[] = []
  session.on('stream', (stream: ServerHttp2Stream, _: IncomingHttpHeaders, __: number, raw: unknown) => {
    lastRequest = raw as string[]
    stream.on('error', () => {})
    said.word(`request ${stream.id}`)
  })
  return {
    give: (bytes) => void socket.push(Buffer.from(bytes)),
    verdict: () => said.take(),
    get lastRequest() {
      return lastRequest
    },
    close: () => {
      session.destroy(undefined, constants.NGHTTP2_NO_ERROR)
      socket.destroy()
    },
  }
}
