import { Metadata } from '@grpc/grpc-js'
import { Code, type StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import { statusOf } from '../proto/error-details.js'

/** How a call ends on the wire: the trailers grpc-status, grpc-message and grpc-status-details-bin. */
export interface WireStatus {
  readonly code: number
  readonly details: string
  readonly metadata?: Metadata
}

export const OK: WireStatus = { code: Code.OK, details: 'OK' }

const statusCodec = codec('google.rpc.Status')

// grpc-java refuses trailers above 8 KiB, and percent-encoding can make nine bytes of one character.
const MAX_MESSAGE_CHARACTERS = 700
const MAX_DETAILS_BYTES = 3 * 1024

/** The trailers that tell of `error`. Details too large for trailers are left out; code and message always arrive. */
export const wireStatus = (error: StatusError): WireStatus => {
  // OK is no failure: a handler that throws it is wrong, and a client must not take it for success.
  if (error.code === Code.OK) return { code: Code.INTERNAL, details: 'internal error' }
  const details = printable(error.message)
  if (error.details.length === 0) return { code: error.code, details }
  const encoded = statusCodec.encode({ ...statusOf(error), message: details })
  if (encoded.length > MAX_DETAILS_BYTES) return { code: error.code, details }
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', encoded)
  return { code: error.code, details, metadata }
}

/**
 * The message as it may stand in a header: no control characters, of bounded length. A lone surrogate, which a cut may
 * make, has no percent-encoding: grpc-js would throw over it with the call left hanging.
 */
const printable = (message: string): string => {
  const short = message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message
  return short.replace(/\p{Cc}+/gu, ' ').replace(/\p{Cs}/gu, '\ufffd')
}
