import { Code, type ErrorDetail, StatusError } from '../base/status-error.js'
import { holds, pack, unpack } from './any.js'
import { codec, type Input } from './codec.js'
import type { Status, StatusInput } from './generated/google.rpc.js'
import { durationOf, toMs } from './time.js'

const preconditionFailureCodec = codec('google.rpc.PreconditionFailure')
const badRequestCodec = codec('google.rpc.BadRequest')
const retryInfoCodec = codec('google.rpc.RetryInfo')
const errorInfoCodec = codec('google.rpc.ErrorInfo')
/** `ErrorInfo.domain`. */
const THIRD_PARTY = 'third-party.remexec'

/** Lists what a client must correct after FAILED_PRECONDITION. REAPI lists missing blobs this way. */
export const preconditionFailure = (
  violations: readonly Input<'google.rpc.PreconditionFailure.Violation'>[],
): ErrorDetail => pack(preconditionFailureCodec, { violations })

/** Lists the invalid fields of a request, with reasons. */
export const badRequest = (fieldViolations: readonly Input<'google.rpc.BadRequest.FieldViolation'>[]): ErrorDetail =>
  pack(badRequestCodec, { fieldViolations })

/** Says of a worker's failure that a third party failed, so that the worker itself may be fine. */
export const ofThirdParty = (reason: string): ErrorDetail => pack(errorInfoCodec, { reason, domain: THIRD_PARTY })

export const isOfThirdParty = ({ details }: StatusError): boolean =>
  details.some((detail) => holds(detail, errorInfoCodec) && unpack(errorInfoCodec, detail).domain === THIRD_PARTY)

/** How long a client should wait before a retry. */
export const retryInfo = (delayMs: number): ErrorDetail => pack(retryInfoCodec, { retryDelay: durationOf(delayMs) })

/** The wait that the RetryInfo of a failure asks for; undefined without one. */
export const retryDelayMsOf = ({ details }: StatusError): number | undefined => {
  for (const detail of details) {
    const retryDelay = holds(detail, retryInfoCodec) ? unpack(retryInfoCodec, detail).retryDelay : undefined
    if (retryDelay != null) return toMs(retryDelay)
  }
  return undefined
}

/** The google.rpc.Status of a failure, for messages and the grpc-status-details-bin trailer. */
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

/** The failure in a google.rpc.Status, which must not be OK. Codes unknown to gRPC become UNKNOWN. */
export const errorOf = ({ code, message, details }: Pick<Status, 'code' | 'message' | 'details'>): StatusError =>
  new StatusError(codes.get(code) ?? 'UNKNOWN', message, { details })
