import { Code, type StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { statusOf } from '../../proto/error-details.js'
import { encodeFields } from '../http2/hpack/encoder.js'

type Field = readonly [name: string, value: string]

const statusCodec = codec('google.rpc.Status')

// grpc-java refuses trailers above 8 KiB, and percent-encoding can make nine bytes of one character.
const MAX_MESSAGE_CHARACTERS = 700
const MAX_DETAILS_BYTES = 3 * 1024

/** A failure as it may be told in trailers. */
export interface WireStatus {
  readonly code: number
  /** No control characters, of bounded length. */
  readonly message: string
  /** An encoded google.rpc.Status. Details too large for trailers are left out; code and message always arrive. */
  readonly details: Buffer | undefined
}

export const wireStatus = (error: StatusError): WireStatus => {
  // OK is no failure: a handler that throws it is wrong, and a client must not take it for success.
  if (error.code === Code.OK) return { code: Code.INTERNAL, message: 'internal error', details: undefined }
  const message = printable(error.message)
  if (error.details.length === 0) return { code: error.code, message, details: undefined }
  const details = statusCodec.encode({ ...statusOf(error), message })
  return { code: error.code, message, details: details.length > MAX_DETAILS_BYTES ? undefined : details }
}

/** A lone surrogate, which a cut may make, has no percent-encoding. */
const printable = (message: string): string => {
  const short = message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message
  return short.replace(/\p{Cc}+/gu, ' ').replace(/\p{Cs}/gu, '\ufffd')
}

const RESPONSE: readonly Field[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const ACCEPTED: Field = ['grpc-accept-encoding', 'identity,deflate,gzip']
const OK: readonly Field[] = [['grpc-status', '0']]

/** The head of every response whose messages are sent as they are. */
export const RESPONSE_BLOCK = encodeFields([...RESPONSE, ACCEPTED])
/** The head of a response whose messages may be compressed. */
export const GZIP_RESPONSE_BLOCK = encodeFields([...RESPONSE, ['grpc-encoding', 'gzip'], ACCEPTED])
/** The trailers of every call that ends well, behind messages and as the whole response. */
export const OK_TRAILERS = encodeFields(OK)
export const OK_RESPONSE = encodeFields([...RESPONSE, ...OK])

/** The trailers of a call that fails (gRPC over HTTP2, Responses): as the whole response where nothing was sent before. */
export const failureBlock = (error: StatusError, isWholeResponse: boolean): Buffer => {
  const { code, message, details } = wireStatus(error)
  const fields: Field[] = [
    ['grpc-status', String(code)],
    ['grpc-message', percentEncoded(message)],
  ]
  if (details !== undefined) fields.push(['grpc-status-details-bin', details.toString('base64').replace(/=+$/, '')])
  return encodeFields(isWholeResponse ? [...RESPONSE, ACCEPTED, ...fields] : fields)
}

/** UTF-8 with everything but printable ASCII escaped (gRPC over HTTP2, Percent-Encoded). */
const percentEncoded = (message: string): string =>
  message.replace(/[^ -$&-~]+/gu, (found) => encodeURIComponent(found))
