import type { Readable } from 'node:stream'
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

const send = async (stream: Http2Stream, { status, contentType, body, headers = {} }: HttpAnswer): Promise<void> => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : undefined
  const isHead = stream.head.method === 'HEAD'
  const head: [string, string][] = [
    [':status', String(status)],
    ['content-type', contentType],
    ...(bytes === undefined ? [] : [['content-length', String(bytes.length)] as [string, string]]),
    ...Object.entries(headers),
  ]
  stream.respond(encodeFields(head), isHead)
  if (typeof body !== 'string') await pour(body, stream)
  else if (bytes !== undefined) stream.write(bytes)
  stream.end()
  stream.handled()
}

/** One chunk is on its way at a time. A body that fails resets the stream, so that the client does not take it for whole. */
const pour = async (body: Readable, stream: Http2Stream): Promise<void> => {
  try {
    for await (const chunk of body) {
      if (!stream.isWritable) return
      await new Promise<void>((written) => {
        stream.write(chunk, written)
        stream.flush()
      })
    }
  } catch {
    stream.reset('INTERNAL_ERROR')
  }
}
