import type { FieldLines } from './hpack/decoder.js'
import { encodeFields } from './hpack/encoder.js'

/** A request that is malformed because a value begins or ends with a blank (RFC 9113, 8.2.1), and how it is answered. */
export interface PaddedAnswer {
  /** Answers, and ends the stream. */
  readonly block: Buffer
  readonly reason: string
}

const UNAUTHENTICATED = 16
const INVALID_ARGUMENT = 3
const EMPTY_TOKEN = /^[ \t]*bearer[ \t]*$/i

/**
 * RFC 9113, 8.1.1, allows an answer before the stream is closed. Without one a build whose variable with the token is not set says
 * `RST_STREAM with code 1` and nothing else. The request is not served.
 */
export const paddedAnswer = (name: string, lines: FieldLines): PaddedAnswer => {
  const at = lines.findIndex((line, index) => index % 2 === 0 && line === name)
  const isEmptyToken = name === 'authorization' && EMPTY_TOKEN.test(lines[at + 1] ?? '')
  const reason = isEmptyToken
    ? 'the bearer token is empty, expected `authorization: Bearer TOKEN`: is its variable set'
    : `the value of ${name} begins or ends with a blank, which HTTP/2 forbids`
  const type = lines.findIndex((line, index) => index % 2 === 0 && line === 'content-type')
  if (lines[type + 1]?.startsWith('application/grpc') !== true)
    return {
      block: encodeFields([
        [':status', isEmptyToken ? '401' : '400'],
        ['content-length', '0'],
      ]),
      reason,
    }
  const status = name === 'authorization' ? UNAUTHENTICATED : INVALID_ARGUMENT
  const block = encodeFields([
    [':status', '200'],
    ['content-type', 'application/grpc'],
    ['grpc-status', String(status)],
    ['grpc-message', reason],
  ])
  return { block, reason }
}
