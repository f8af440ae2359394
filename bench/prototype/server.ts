import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'
import type { Readable, Writable } from 'node:stream'
import { serviceDefinition } from '../../src/proto/service-definition.js'

// The bare handlers of bench/server/bare.ts on node:http2 alone, with gRPC's framing written here: what a transport
// without grpc-js could bring. A prototype that measures: no deadlines, compression, metadata or errors, and not a
// part of the server. `core` answers stream events of a session, `compat` requests in the manner of node:http.

const RESPONSE_HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' }
const TRAILERS = { 'grpc-status': '0' }
const HEAD_BYTES = 5

const methodOf = (service: string, name: string) => {
  const method = serviceDefinition(service).methods.find((candidate) => candidate.name === name)
  if (method === undefined) throw new Error(`no method ${service}/${name}`)
  return method
}

const find = methodOf('build.bazel.remote.execution.v2.ContentAddressableStorage', 'FindMissingBlobs')
const read = methodOf('google.bytestream.ByteStream', 'Read')
const write = methodOf('google.bytestream.ByteStream', 'Write')

const framed = (message: Buffer): Buffer => {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, HEAD_BYTES)
  return frame
}

/** Calls back with each message; one that lies within a chunk is a slice of it, others are put together once. */
class Messages {
  readonly #each: (message: Buffer) => void
  readonly #head = Buffer.alloc(HEAD_BYTES)
  #headBytes = 0
  #message: Buffer | undefined
  #filledBytes = 0

  constructor(each: (message: Buffer) => void) {
    this.#each = each
  }

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; )
      at = this.#message === undefined ? this.#begin(chunk, at) : this.#go(chunk, at)
  }

  #begin(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#head, this.#headBytes, at, at + HEAD_BYTES - this.#headBytes)
    this.#headBytes += copied
    if (this.#headBytes < HEAD_BYTES) return at + copied
    this.#headBytes = 0
    const from = at + copied
    const sizeBytes = this.#head.readUInt32BE(1)
    if (from + sizeBytes <= chunk.length) {
      this.#each(chunk.subarray(from, from + sizeBytes))
      return from + sizeBytes
    }
    this.#message = Buffer.allocUnsafeSlow(sizeBytes)
    this.#filledBytes = 0
    return from
  }

  #go(chunk: Buffer, at: number): number {
    const message = this.#message as Buffer
    const copied = chunk.copy(message, this.#filledBytes, at)
    this.#filledBytes += copied
    if (this.#filledBytes === message.length) {
      this.#message = undefined
      this.#each(message)
    }
    return at + copied
  }
}

interface Wire {
  readonly requests: Readable
  readonly responses: Writable
  respond(): void
  finish(last?: Buffer): void
}

const unary = ({ requests, respond, finish }: Wire): void => {
  const messages = new Messages((message) => {
    find.request.decode(message)
    respond()
    finish(framed(find.response.encode({})))
  })
  requests.on('data', (chunk: Buffer) => messages.add(chunk))
}

const CHUNK = Buffer.alloc(Number(process.env['CHUNK_BYTES'] ?? 64 << 10), 7)

/** Head and data are two writes, which leave the process in one and without a copy. */
const reading = ({ requests, responses, respond, finish }: Wire): void => {
  const messages = new Messages((message) => {
    const { resourceName } = read.request.decode(message) as { resourceName: string }
    let left = Number(resourceName.split('/').at(-1))
    respond()
    const pump = (): void => {
      while (left > 0) {
        const data = CHUNK.subarray(0, Math.min(left, CHUNK.length))
        left -= data.length
        const fieldHead = lengthDelimited(10, data.length)
        const head = Buffer.allocUnsafe(HEAD_BYTES + fieldHead.length)
        head[0] = 0
        head.writeUInt32BE(fieldHead.length + data.length, 1)
        fieldHead.copy(head, HEAD_BYTES)
        responses.cork()
        responses.write(head)
        const hasRoom = responses.write(data)
        responses.uncork()
        if (!hasRoom) {
          responses.once('drain', pump)
          return
        }
      }
      finish()
    }
    pump()
  })
  requests.on('data', (chunk: Buffer) => messages.add(chunk))
}

const lengthDelimited = (field: number, sizeBytes: number): Buffer => {
  const bytes = [(field << 3) | 2]
  let rest = sizeBytes
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

const writing = ({ requests, respond, finish }: Wire): void => {
  let committedSize = 0
  const messages = new Messages((message) => {
    committedSize += (write.request.decode(message) as { data: Buffer }).data.length
  })
  requests.on('data', (chunk: Buffer) => messages.add(chunk))
  requests.on('end', () => {
    respond()
    finish(framed(write.response.encode({ committedSize })))
  })
}

const handlers = new Map([
  [find.path, unary],
  [read.path, reading],
  [write.path, writing],
])

const onStream = (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void => {
  stream.on('error', () => {})
  handlers.get(String(headers[':path']))?.({
    requests: stream,
    responses: stream,
    respond: () => stream.respond(RESPONSE_HEADERS, { waitForTrailers: true }),
    finish: (last) => {
      stream.once('wantTrailers', () => stream.sendTrailers(TRAILERS))
      stream.end(last)
    },
  })
}

const onRequest = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
  handlers.get(request.url)?.({
    requests: request,
    responses: response,
    respond: () => response.writeHead(200, { 'content-type': 'application/grpc+proto' }),
    finish: (last) => {
      response.addTrailers(TRAILERS)
      if (last === undefined) response.end()
      else response.end(last)
    },
  })
}

const WINDOW_BYTES = 256 << 10
const server = http2.createServer({ settings: { initialWindowSize: WINDOW_BYTES } })
server.on('session', (session) => session.setLocalWindowSize(16 * WINDOW_BYTES))
if (process.argv[2] === 'compat') server.on('request', onRequest)
else server.on('stream', onStream)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stderr.write(`serving grpc://127.0.0.1:${address?.port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
