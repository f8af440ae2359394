import type { HealthProbe, HealthStatus } from '../../base/health.js'
import { codeName, type StatusError } from '../../base/status-error.js'
import { before } from '../../work/deadline.js'

export interface Connection {
  /** The name for operators: `127.0.0.1:6379`, `s3 bucket builds`. No secrets. */
  readonly name: string
  /** The class that owns the connection. */
  readonly structName: string
  /** Resolves when the backend answers. The request leaves nothing behind. */
  ping(signal: AbortSignal): Promise<void>
  /** Converts what `ping` throws into a status. */
  failureOf(thrown: unknown): StatusError
  /** Timeout of `ping`; 0 means the deadline of the caller only. */
  readonly timeoutMs: number
}

/** The health of a connection, checked at each call, so that a recovery needs no restart. */
export const connectionHealth = async (connection: Connection, signal: AbortSignal): Promise<HealthStatus> => {
  const { name, timeoutMs, ping, failureOf } = connection
  try {
    await before(timeoutMs, `${name} did not answer`, signal, ping)
    return { state: 'Ok', message: `connected to ${name}` }
  } catch (thrown) {
    const { code, message } = failureOf(thrown)
    return { state: 'Failed', message: `no connection to ${name}`, error: `${codeName(code)}: ${message}` }
  }
}

/**
 * A connection as a component of the health report, e.g. `/connections/CAS/slow/127.0.0.1:6379` of the store CAS/slow.
 */
export const connectionProbe = (storePath: string, connection: Connection): HealthProbe => ({
  namespace: `/connections/${storePath}/${connection.name}`,
  component: `connections/${storePath}/${connection.name}`,
  structName: connection.structName,
  check: (signal) => connectionHealth(connection, signal),
})
