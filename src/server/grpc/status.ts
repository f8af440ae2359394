import { Code, type StatusError } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { statusOf } from '../../proto/error-details.js'

const statusCodec = codec('google.rpc.Status')

// grpc-java refuses trailers above 8 KiB, and percent-encoding may turn one character into nine bytes.
const MAX_MESSAGE_CHARACTERS = 700
const MAX_DETAILS_BYTES = 3 * 1024

/** A failure as sent in trailers (gRPC over HTTP2, Responses: Status, Status-Message and Status-Details). */
export interface WireStatus {
  readonly code: number
  /** Of bounded length. */
  readonly message: string
  /** An encoded google.rpc.Status. Details too large for trailers are left out; code and message are always sent. */
  readonly details: Buffer | undefined
}

export const wireStatus = (error: StatusError): WireStatus => {
  // OK is no failure. A handler that throws it has a bug, and the client must not see success.
  if (error.code === Code.OK) return { code: Code.INTERNAL, message: 'internal error', details: undefined }
  const message = sendable(error.message)
  if (error.details.length === 0) return { code: error.code, message, details: undefined }
  const details = statusCodec.encode({ ...statusOf(error), message })
  return { code: error.code, message, details: details.length > MAX_DETAILS_BYTES ? undefined : details }
}

/** Replaces lone surrogates, which the cut may create, because they cannot be percent-encoded. */
const sendable = (message: string): string => {
  const short = message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message
  return short.replace(/\p{Cs}/gu, '\ufffd')
}
