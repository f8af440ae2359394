import { type HealthRegistry, isHealthy } from './registry.js'

export interface HealthAnswer {
  readonly status: 200 | 503
  readonly contentType: string
  readonly body: string
}

/** The health endpoint (interface specification 4.1): 200 with the report, 503 when any part Failed or timed out. */
export const healthPage = (registry: HealthRegistry, timeoutMs: number) => async (): Promise<HealthAnswer> => {
  const reports = await registry.report(timeoutMs)
  return {
    status: isHealthy(reports) ? 200 : 503,
    contentType: 'application/json; charset=utf-8',
    body: `${JSON.stringify(reports)}\n`,
  }
}
