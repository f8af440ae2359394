import type { HealthStatus } from '../../../base/health.js'
import { type Connection, connectionHealth } from '../../remote/connection-health.js'

/** The health of a store on another server: Ok while at least one connection works. */
export type Health = (signal: AbortSignal) => Promise<HealthStatus>

export const healthOf =
  (connections: readonly Connection[]): Health =>
  async (signal) => {
    const all = await Promise.all(connections.map((one) => connectionHealth(one, signal)))
    const lost = all.filter(({ state }) => state !== 'Ok')
    const [first] = lost
    if (first === undefined || lost.length === all.length) return all[0] as HealthStatus
    const message = `${lost.length} of ${all.length} servers cannot be reached: ${first.message}`
    return { state: 'Warning', message }
  }
