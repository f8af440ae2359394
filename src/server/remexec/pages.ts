import type { Client } from '../client.js'
import { metadataOf, repeatsField } from '../grpc/metadata.js'
import { clientGone, type HttpAnswer, type HttpPages } from '../http.js'
import { encodeFields } from '../http2/hpack/encoder.js'
import type { Http2Stream } from '../http2/stream.js'

const NO_GRPC: HttpAnswer = {
  status: 415,
  contentType: 'text/plain; charset=utf-8',
  body: 'this port serves gRPC: expected POST with content-type application/grpc\n',
}

/**
 * Answers a request that is not gRPC with a page, or with an explanation that this port serves gRPC (gRPC over HTTP2,
 * Requests). The request body is read and dropped.
 */
export const answerNoGrpc = (stream: Http2Stream, pages: HttpPages, client: Client): void => {
  const { method, path: target, lines } = stream.head
  const gone = new AbortController()
  stream.consumer = {
    data: ({ length }) => stream.consumed(length),
    ended: () => {},
    sweep: () => {},
    gone: () => gone.abort(clientGone()),
  }
  const repeats = (name: string): boolean => repeatsField(lines, name)
  const caller = { ...client, metadata: metadataOf(lines), repeats }
  // A POST is meant for gRPC unless it names a page.
  if (method === 'POST' && !pages.has(target)) send(stream, NO_GRPC)
  else pages.answer({ method, target, signal: gone.signal, caller }, (answer) => send(stream, answer))
}

const send = (stream: Http2Stream, { status, contentType, body, headers = {} }: HttpAnswer): void => {
  const bytes = Buffer.from(body)
  const isHead = stream.head.method === 'HEAD'
  const head: [string, string][] = [
    [':status', String(status)],
    ['content-type', contentType],
    ['content-length', String(bytes.length)],
    ...Object.entries(headers),
  ]
  stream.respond(encodeFields(head), isHead)
  stream.write(bytes)
  stream.end()
  stream.handled()
}
