import type { HealthProbe, HealthStatus } from '../../base/health.js'
import { codeName, type StatusError } from '../../base/status-error.js'
import { before } from '../../work/deadline.js'

export interface Connection {
  /** Where it leads, for operators: `127.0.0.1:6379`, `s3 bucket builds`. No secrets. */
  readonly name: string
  /** The class that keeps the connection. */
  readonly structName: string
  /** Answers whether the backend does: a question that leaves nothing behind there. */
  ping(signal: AbortSignal): Promise<void>
  /** What `ping` throws, as a status. */
  failureOf(thrown: unknown): StatusError
  /** How long it may take; 0 is as long as whoever asks waits. */
  readonly timeoutMs: number
}

/** The state of a connection to a backend, asked anew each time: one that came back is well without a restart. */
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

/** A connection as a component of the health report: `/connections/CAS/slow/127.0.0.1:6379` of the store CAS/slow. */
export const connectionProbe = (storePath: string, connection: Connection): HealthProbe => ({
  namespace: `/connections/${storePath}/${connection.name}`,
  component: `connections/${storePath}/${connection.name}`,
  structName: connection.structName,
  check: (signal) => connectionHealth(connection, signal),
})
