import { StatusError } from '../../base/status-error.js'

const MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** The maximum of Node's timers. A longer deadline is ignored. */
const MAX_MS = 2 ** 31 - 1

/** The client's timeout in ms from `grpc-timeout` (gRPC over HTTP2, Requests); undefined for no limit. */
export const timeoutMs = (header: string): number | undefined => {
  const [, value, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  const factor = MS[unit]
  if (factor === undefined) {
    throw new StatusError(
      'INVALID_ARGUMENT',
      'grpc-timeout is not valid, expected up to eight digits and H, M, S, m, u or n',
    )
  }
  const ms = Math.ceil(Number(value) * factor)
  return ms > MAX_MS ? undefined : ms
}
