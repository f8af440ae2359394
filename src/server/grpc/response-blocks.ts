import { Code, type StatusError } from '../../base/status-error.js'
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

/** The header blocks of a server's responses (gRPC over HTTP2, Responses). Frequent ones are encoded once. */
export class ResponseBlocks {
  /** The head of responses without compression. */
  readonly #plain: Buffer
  /** The head of responses that may have compressed messages. */
  readonly #gzip: Buffer
  readonly #accepted: Field
  readonly #ok = encodeFields(OK)
  /** The whole response of a call that succeeds without a message. */
  readonly #okAlone = encodeFields([...RESPONSE, ...OK])
  /** By `grpc-status`: what all failures with it begin with that are the whole response. */
  readonly #failedAlone: ReadonlyMap<string, Buffer>

  /** `accepted`: supported compressions of requests. */
  constructor(accepted: readonly Encoding[]) {
    this.#accepted = ['grpc-accept-encoding', ['identity', ...accepted].join(',')]
    this.#plain = encodeFields([...RESPONSE, this.#accepted])
    this.#gzip = encodeFields([...RESPONSE, GZIP, this.#accepted])
    const statuses = Object.values(Code).map((code) => statusField(code))
    this.#failedAlone = new Map(statuses.map((status) => [status[1], this.#failedHead(status)]))
  }

  /** The block before the first message. */
  head(isGzip: boolean, metadata = NOTHING): Buffer {
    if (metadata.length === 0) return isGzip ? this.#gzip : this.#plain
    return encodeFields([...RESPONSE, ...(isGzip ? [GZIP] : NOTHING), this.#accepted, ...metadata])
  }

  /** The block at the end, after the head and the messages. */
  trailers(failure: StatusError | undefined, metadata = NOTHING): Buffer {
    if (failure !== undefined) return encodeFields([...failureFields(failure), ...metadata])
    return metadata.length === 0 ? this.#ok : encodeFields([...OK, ...metadata])
  }

  /** The only block of a response without messages and without its own head. */
  alone(failure: StatusError | undefined, metadata = NOTHING): Buffer {
    if (failure !== undefined) return this.#failed(failure, metadata)
    if (metadata.length === 0) return this.#okAlone
    return encodeFields([...RESPONSE, this.#accepted, ...OK, ...metadata])
  }

  /** Blocks have no state, so two of them in a row are one. To encode all of it took 5.5 of the 36 us of a miss. */
  #failed(failure: StatusError, metadata: readonly Field[]): Buffer {
    const [status, ...fields] = failureFields(failure)
    const head = this.#failedAlone.get(status[1]) ?? this.#failedHead(status)
    return Buffer.concat([head, encodeFields([...fields, ...metadata])])
  }

  #failedHead(status: Field): Buffer {
    return encodeFields([...RESPONSE, this.#accepted, status])
  }
}

const statusField = (code: number): Field => ['grpc-status', String(code)]

const failureFields = (failure: StatusError): [status: Field, ...Field[]] => {
  const { code, message, details } = wireStatus(failure)
  const fields: [Field, ...Field[]] = [statusField(code), ['grpc-message', percentEncoded(message)]]
  if (details !== undefined) fields.push(['grpc-status-details-bin', base64Of(details)])
  return fields
}

/**
 * UTF-8 in which the percent sign and everything except printable ASCII is escaped (gRPC over HTTP2, Percent-Encoded).
 */
const percentEncoded = (message: string): string =>
  message.replace(/[^ -$&-~]+/gu, (found) => encodeURIComponent(found))
