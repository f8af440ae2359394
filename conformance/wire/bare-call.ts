import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { serviceDefinition } from '../proto/service-definition.js'
import type { Any, Method } from './methods.js'

const MOST_BYTES = 16 << 20

/** How a call in bare HTTP/2 frames ended. */
export interface WireOutcome {
  /** From the trailers, or from the headers of a response without a body; undefined without a gRPC status. */
  readonly grpcStatus: number | undefined
  readonly grpcMessage: string
  readonly httpStatus: number | undefined
  /** The error code of an RST_STREAM, or 0. */
  readonly resetCode: number
  readonly messages: readonly Buffer[]
}

/** A gRPC frame: the compression flag, the length, and the message. */
export const frame = (message: Uint8Array, isCompressed = false): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt8(isCompressed ? 1 : 0)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Opens a call with these headers and sends nothing yet. The client sets no deadline of its own. */
export const openOnWire = (
  session: ClientHttp2Session,
  method: Method<Any, Any>,
  headers: Readonly<Record<string, string>> = {},
): { stream: ClientHttp2Stream; outcome: Promise<WireOutcome> } => {
  const found = serviceDefinition(method.service).methods.find(({ name }) => name === method.name)
  const stream = session.request({
    ':method': 'POST',
    ':path': found?.path ?? '/',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  return { stream, outcome: outcomeOf(stream) }
}

const outcomeOf = (stream: ClientHttp2Stream): Promise<WireOutcome> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let status: IncomingHttpHeaders = {}
    let httpStatus: number | undefined
    stream.on('response', (headers) => {
      httpStatus = headers[':status']
      if (headers['grpc-status'] !== undefined) status = headers
    })
    stream.on('trailers', (trailers) => {
      status = trailers
    })
    let takenBytes = 0
    stream.on('data', (chunk: Buffer) => {
      takenBytes += chunk.length
      // These answers are a few bytes long; a server that never stops is cut off.
      if (takenBytes > MOST_BYTES) stream.close(constants.NGHTTP2_CANCEL)
      else chunks.push(chunk)
    })
    // The server has finished the call and needs nothing more from the client.
    stream.on('end', () => stream.close())
    // `resetCode` reports a reset; an unhandled error would end the process.
    stream.on('error', () => {})
    stream.on('close', () => {
      const code = status['grpc-status']
      resolve({
        grpcStatus: code === undefined ? undefined : Number(code),
        grpcMessage: decodeURIComponent(String(status['grpc-message'] ?? '').replaceAll(/%(?![0-9a-fA-F]{2})/g, '%25')),
        httpStatus,
        resetCode: stream.rstCode ?? 0,
        messages: unframed(Buffer.concat(chunks)),
      })
    })
  })

const unframed = (bytes: Buffer): Buffer[] => {
  const messages: Buffer[] = []
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1)
    messages.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return messages
}

/** A summary in one line, for a report. */
export const shownOnWire = ({ grpcStatus, grpcMessage, httpStatus, resetCode }: WireOutcome): string =>
  grpcStatus === undefined
    ? `no grpc-status (HTTP ${httpStatus ?? 'nothing'}, reset ${resetCode})`
    : `grpc-status ${grpcStatus} ${grpcMessage.slice(0, 200)}`.trim()
