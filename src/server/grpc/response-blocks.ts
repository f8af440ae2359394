import type { StatusError } from '../../base/status-error.js'
import { encodeFields } from '../http2/hpack/encoder.js'
import type { Encoding } from './encoding.js'
import { base64Of } from './metadata.js'
import { wireStatus } from './status.js'

type Field = readonly [name: string, value: string]

const RESPONSE: readonly Field[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const GZIP: Field = ['grpc-encoding', 'gzip']
const OK: readonly Field[] = [['grpc-status', '0']]
const NOTHING: readonly Field[] = []

/** Header blocks of the answers of one server (gRPC over HTTP2, Responses): most are made once. */
export class ResponseBlocks {
  /** The head of every response whose messages are sent as they are. */
  readonly #plain: Buffer
  /** The head of a response whose messages may be compressed. */
  readonly #gzip: Buffer
  readonly #accepted: Field
  readonly #ok = encodeFields(OK)
  /** The whole response of a call that ends well without a message. */
  readonly #okAlone = encodeFields([...RESPONSE, ...OK])

  /** `accepted`: what requests may be compressed with. */
  constructor(accepted: readonly Encoding[]) {
    this.#accepted = ['grpc-accept-encoding', ['identity', ...accepted].join(',')]
    this.#plain = encodeFields([...RESPONSE, this.#accepted])
    this.#gzip = encodeFields([...RESPONSE, GZIP, this.#accepted])
  }

  /** In front of the first message. */
  head(isGzip: boolean, metadata = NOTHING): Buffer {
    if (metadata.length === 0) return isGzip ? this.#gzip : this.#plain
    return encodeFields([...RESPONSE, ...(isGzip ? [GZIP] : NOTHING), this.#accepted, ...metadata])
  }

  /** Behind the head, and what was sent after it. */
  trailers(failure: StatusError | undefined, metadata = NOTHING): Buffer {
    if (failure !== undefined) return encodeFields([...failureFields(failure), ...metadata])
    return metadata.length === 0 ? this.#ok : encodeFields([...OK, ...metadata])
  }

  /** The whole of a response that has neither a head of its own nor messages. */
  alone(failure: StatusError | undefined, metadata = NOTHING): Buffer {
    if (failure === undefined && metadata.length === 0) return this.#okAlone
    const status = failure === undefined ? OK : failureFields(failure)
    return encodeFields([...RESPONSE, this.#accepted, ...status, ...metadata])
  }
}

const failureFields = (failure: StatusError): Field[] => {
  const { code, message, details } = wireStatus(failure)
  const fields: Field[] = [
    ['grpc-status', String(code)],
    ['grpc-message', percentEncoded(message)],
  ]
  if (details !== undefined) fields.push(['grpc-status-details-bin', base64Of(details)])
  return fields
}

/** UTF-8 with everything but printable ASCII escaped, and the percent sign (gRPC over HTTP2, Percent-Encoded). */
const percentEncoded = (message: string): string =>
  message.replace(/[^ -$&-~]+/gu, (found) => encodeURIComponent(found))
