import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as frames from './frames.js'
import { FLAG, FRAME, HEAD_BYTES, INITIAL_WINDOW_BYTES } from './frames.js'
import type { Request } from './request.js'
import type { Target } from './target.js'

const STREAM_WINDOW_BYTES = 4 << 20
const CONNECTION_WINDOW_BYTES = 2 ** 31 - 1
const REFILL_BYTES = 1 << 20
export const IDLE_MS = 60_000
/** Up to here the bytes of a request are copied for each call; larger ones are sent once only and change in place. */
const COPY_BYTES = 256 << 10

/** A request ready to be sent: nothing is encoded while the clock runs. */
export interface Prepared {
  readonly request: Request
  readonly frames: Buffer
}

export const prepare = (request: Request): Prepared => ({ request, frames: frames.dataFrames(request.messages) })

export interface Answer {
  readonly latencyMs: number
  /** Of DATA frames, kept or not. */
  readonly byteCount: number
  /** gRPC frames of the answer, when it was to be kept. */
  readonly bytes: Buffer
}

interface Stream {
  readonly id: number
  readonly prepared: Prepared
  readonly body: Buffer
  readonly startMs: number
  readonly kept: Buffer[] | undefined
  readonly settle: (error: Error | undefined, answer: Answer | undefined) => void
  sent: number
  windowBytes: number
  unacknowledged: number
  received: number
}

/** One HTTP/2 connection that makes gRPC calls at a fraction of what they cost any server. */
export class Connection {
  readonly #socket: Socket
  readonly #authority: string
  readonly #headers: Request['headers']
  readonly #streams = new Map<number, Stream>()
  readonly #blocks = new Map<string, Buffer>()
  #nextId = 1
  #initialWindowBytes = INITIAL_WINDOW_BYTES
  #windowBytes = INITIAL_WINDOW_BYTES
  #unacknowledged = 0
  #rest: Buffer = Buffer.alloc(0)
  #isCorked = false
  #onSettings: () => void = () => {}

  private constructor({ address: authority, headers }: Target, socket: Socket) {
    this.#authority = authority
    this.#headers = headers
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.setTimeout(IDLE_MS, () => this.#fall(`${authority} said nothing for ${IDLE_MS / 1000} s`))
    socket.on('close', () => this.#fail(new Error(`${authority} closed the connection`)))
    this.#write(frames.opening(STREAM_WINDOW_BYTES, CONNECTION_WINDOW_BYTES))
  }

  /** Resolves when the settings of the server have arrived. */
  static async open(target: Target): Promise<Connection> {
    const { address } = target
    const connection = new Connection(target, await socketTo(target))
    await new Promise<void>((resolve, reject) => {
      connection.#onSettings = resolve
      connection.#socket.once('close', () =>
        reject(new Error(`${address} closed the connection before it told its settings`)),
      )
    })
    return connection
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  /** Rejects when the call ends with another status than the request expects. */
  call(prepared: Prepared, isKept = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId
      this.#nextId += 2
      const { frames: laid } = prepared
      const stream: Stream = {
        id,
        prepared,
        body: laid.length > COPY_BYTES ? laid : Buffer.from(laid),
        startMs: performance.now(),
        kept: isKept ? [] : undefined,
        settle: (error, answer) => (answer === undefined ? reject(error) : resolve(answer)),
        sent: 0,
        windowBytes: this.#initialWindowBytes,
        unacknowledged: 0,
        received: 0,
      }
      this.#streams.set(id, stream)
      this.#write(frames.frame(FRAME.headers, FLAG.endHeaders, id, this.#blockOf(prepared.request)))
      this.#pump(stream)
    })
  }

  #blockOf(request: Request): Buffer {
    // Headers of a request's own are as many as requests: keeping them would be a leak.
    const headers = { ...this.#headers, ...request.headers }
    if (request.headers !== undefined) return frames.headerBlock(this.#authority, { ...request, headers })
    const key = `${request.path} ${request.shape ?? ''}`
    const known = this.#blocks.get(key)
    if (known !== undefined) return known
    const made = frames.headerBlock(this.#authority, { ...request, headers })
    this.#blocks.set(key, made)
    return made
  }

  /** What is written in one turn of the loop leaves in one system call. */
  #write(bytes: Buffer): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#socket.cork()
      process.nextTick(() => {
        this.#isCorked = false
        this.#socket.uncork()
      })
    }
    this.#socket.write(bytes)
  }

  #pump(stream: Stream): void {
    const { body } = stream
    const from = stream.sent
    while (stream.sent < body.length) {
      const length = body.readUIntBE(stream.sent, 3)
      if (length > Math.min(stream.windowBytes, this.#windowBytes)) break
      body.writeUInt32BE(stream.id, stream.sent + 5)
      stream.windowBytes -= length
      this.#windowBytes -= length
      stream.sent += HEAD_BYTES + length
    }
    if (stream.sent > from) this.#write(body.subarray(from, stream.sent))
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + bytes.readUIntBE(0, 3)
      if (bytes.length < end) break
      const payload = bytes.subarray(HEAD_BYTES, end)
      this.#take(bytes.readUInt8(3), bytes.readUInt8(4), bytes.readUInt32BE(5) & 0x7fffffff, payload)
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
  }

  #take(type: number, flags: number, id: number, payload: Buffer): void {
    const stream = this.#streams.get(id)
    const isAck = (flags & FLAG.ack) !== 0
    if (type === FRAME.data) this.#takeData(stream, payload)
    else if (type === FRAME.headers && stream !== undefined && (flags & FLAG.endStream) !== 0) {
      this.#end(stream, frames.statusIn(payload))
    } else if (type === FRAME.windowUpdate) this.#widen(id, payload.readUInt32BE(0))
    else if (type === FRAME.settings && !isAck) this.#takeSettings(payload)
    else if (type === FRAME.ping && !isAck) this.#write(frames.frame(FRAME.ping, FLAG.ack, 0, payload))
    else if (type === FRAME.reset && stream !== undefined) this.#reset(stream, payload.readUInt32BE(0))
    else if (type === FRAME.goAway) this.#fail(new Error(`${this.#authority} sent GOAWAY ${payload.readUInt32BE(4)}`))
  }

  #takeData(stream: Stream | undefined, payload: Buffer): void {
    this.#unacknowledged += payload.length
    if (this.#unacknowledged >= CONNECTION_WINDOW_BYTES / 2) {
      this.#write(frames.windowUpdate(0, this.#unacknowledged))
      this.#unacknowledged = 0
    }
    if (stream === undefined) return
    stream.kept?.push(Buffer.from(payload))
    stream.received += payload.length
    stream.unacknowledged += payload.length
    if (stream.unacknowledged < REFILL_BYTES) return
    this.#write(frames.windowUpdate(stream.id, stream.unacknowledged))
    stream.unacknowledged = 0
  }

  #takeSettings(payload: Buffer): void {
    const initial = frames.windowSetting(payload)
    if (initial !== undefined) {
      for (const stream of this.#streams.values()) stream.windowBytes += initial - this.#initialWindowBytes
      this.#initialWindowBytes = initial
    }
    this.#write(frames.frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)))
    this.#onSettings()
  }

  #widen(id: number, bytes: number): void {
    const stream = this.#streams.get(id)
    if (stream !== undefined) {
      stream.windowBytes += bytes
      this.#pump(stream)
    } else if (id === 0) {
      this.#windowBytes += bytes
      for (const waiting of this.#streams.values()) if (waiting.sent < waiting.body.length) this.#pump(waiting)
    }
  }

  #end(stream: Stream, code: number | undefined): void {
    this.#streams.delete(stream.id)
    // Answered before it had everything: the server need not wait for the rest.
    if (stream.sent < stream.body.length) this.#write(frames.cancel(stream.id))
    const { path, code: expected = 0 } = stream.prepared.request
    if (code === expected) {
      const bytes = Buffer.concat(stream.kept ?? [])
      const { startMs, received: byteCount } = stream
      stream.settle(undefined, { latencyMs: performance.now() - startMs, byteCount, bytes })
    } else {
      stream.settle(new Error(`${path}: ended with grpc-status ${code}, expected ${expected}`), undefined)
    }
  }

  #reset(stream: Stream, code: number): void {
    this.#streams.delete(stream.id)
    stream.settle(new Error(`${stream.prepared.request.path}: reset with HTTP/2 code ${code}`), undefined)
  }

  /** A server that stays silent must not hold up the cases after this one. */
  #fall(reason: string): void {
    if (this.#streams.size > 0) this.#fail(new Error(reason))
  }

  #fail(error: Error): void {
    for (const stream of this.#streams.values()) stream.settle(error, undefined)
    this.#streams.clear()
  }
}

const socketTo = async ({ address, tls }: Target): Promise<Socket> => {
  const at = address.lastIndexOf(':')
  const place = { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) }
  if (tls === undefined) {
    const socket = connect(place)
    await once(socket, 'connect')
    return socket
  }
  const socket = connectTls({ ...place, ...tls, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  if (socket.alpnProtocol !== 'h2') throw new Error(`${address} does not agree on HTTP/2`)
  return socket
}
