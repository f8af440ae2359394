import { Code, type ErrorDetail, StatusError } from '../base/status-error.js'
import { pack } from './any.js'
import { codec, type Input } from './codec.js'
import type { Status, StatusInput } from './generated/google.rpc.js'
import { durationOf } from './time.js'

const preconditionFailureCodec = codec('google.rpc.PreconditionFailure')
const badRequestCodec = codec('google.rpc.BadRequest')
const retryInfoCodec = codec('google.rpc.RetryInfo')

/** What a FAILED_PRECONDITION needs to be put right; REAPI lists missing blobs this way. */
export const preconditionFailure = (
  violations: readonly Input<'google.rpc.PreconditionFailure.Violation'>[],
): ErrorDetail => pack(preconditionFailureCodec, { violations })

/** Which fields of a request are wrong, and why. */
export const badRequest = (fieldViolations: readonly Input<'google.rpc.BadRequest.FieldViolation'>[]): ErrorDetail =>
  pack(badRequestCodec, { fieldViolations })

/** How long to wait before asking again. */
export const retryInfo = (delayMs: number): ErrorDetail => pack(retryInfoCodec, { retryDelay: durationOf(delayMs) })

/** The google.rpc.Status of a failure, as messages and the grpc-status-details-bin trailer carry it. */
export const statusOf = ({
  code,
  message,
  details,
}: StatusError): Required<Pick<StatusInput, 'code' | 'message' | 'details'>> => ({
  code,
  message,
  details,
})

const codes = new Map<number, Code>(Object.values(Code).map((code) => [code, code]))

/** The failure a google.rpc.Status (not an OK one) tells of; a code that gRPC does not know becomes UNKNOWN. */
export const errorOf = ({ code, message, details }: Pick<Status, 'code' | 'message' | 'details'>): StatusError =>
  new StatusError(codes.get(code) ?? 'UNKNOWN', message, { details })
