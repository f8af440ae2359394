import type { HealthRegistry } from './registry.js'
import { type HealthReport, isHealthy, isReady } from './report.js'

export interface HealthAnswer {
  readonly status: 200 | 500 | 503
  readonly contentType: string
  readonly body: string
}

export interface HealthPages {
  readonly registry: HealthRegistry
  readonly timeoutMs: number
  /** Whether the process has been asked to stop. */
  readonly isStopping: () => boolean
}

/**
 * The health endpoint (interface specification 4.1), by path:
 * - `path`: asks every component. 200 with the report; 503 if a component is Failed or Timeout, or an awaited one has not
 *   started.
 * - `/ready`: the last answers, with their ages. 503 also while a component is Initializing or the process is stopping.
 * - `/live`: 200 as long as the process responds. A liveness probe must not restart it because a disk is
 *   full.
 */
export const healthPages = (
  path: string,
  { registry, timeoutMs, isStopping }: HealthPages,
): ReadonlyMap<string, () => Promise<HealthAnswer>> => {
  const below = path.replace(/\/$/, '')
  const whole = async (): Promise<HealthAnswer> => {
    const reports = await registry.report(timeoutMs)
    return reported(reports, isHealthy(reports) && registry.awaited.length === 0)
  }
  const ready = async (): Promise<HealthAnswer> => {
    const answers = registry.latest()
    const isFine = isReady(answers.map(({ report }) => report)) && !isStopping()
    const aged = answers.map(({ report, ageMs }) => ({ ...report, age_seconds: Math.floor(ageMs / 1000) }))
    return reported(aged, isFine)
  }
  const live = async (): Promise<HealthAnswer> => reported([], true)
  return new Map([
    [path, whole],
    [`${below}/ready`, ready],
    [`${below}/live`, live],
  ])
}

const reported = (reports: readonly HealthReport[], isFine: boolean): HealthAnswer => {
  const contentType = 'application/json; charset=utf-8'
  try {
    return { status: isFine ? 200 : 503, contentType, body: `${JSON.stringify(reports)}\n` }
  } catch {
    // A component's status contains a value that JSON cannot represent.
    return { status: 500, contentType: 'text/plain; charset=utf-8', body: 'the health status cannot be serialized\n' }
  }
}
