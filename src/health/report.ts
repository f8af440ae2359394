import type { HealthProbe, HealthStatus } from '../base/health.js'
import { LATE, within } from '../work/deadline.js'

/** One element of the health report (interface specification 2.6). `status` has exactly one key. */
export interface HealthReport {
  readonly namespace: string
  readonly component: string
  readonly status: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export type HealthState = 'Ok' | 'Initializing' | 'Warning' | 'Failed' | 'Timeout'

export const STATES: readonly HealthState[] = ['Ok', 'Initializing', 'Warning', 'Failed', 'Timeout']

export const stateOf = ({ status }: HealthReport): HealthState => STATES.find((state) => state in status) ?? 'Failed'

export const isBroken = (state: HealthState): boolean => state === 'Failed' || state === 'Timeout'

export const initializing = ({ namespace, component, structName }: Omit<HealthProbe, 'check'>): HealthReport => ({
  ...{ namespace, component },
  status: { Initializing: { struct_name: structName, message: 'it is starting' } },
})

export const reasonOf = (report: HealthReport): { readonly reason?: string } => {
  const { message, error } = Object.values(report.status)[0] ?? {}
  const state = stateOf(report)
  if (state === 'Ok') return {}
  if (state === 'Timeout') return { reason: 'no answer in time' }
  return { reason: [message, error].filter((text) => text !== undefined).join(': ') }
}

/** Failed and Timeout mean that the whole service is not healthy (specification 2.6). */
export const isHealthy = (reports: readonly HealthReport[]): boolean =>
  reports.every((report) => !isBroken(stateOf(report)))

/** Healthy, and no component is still starting. */
export const isReady = (reports: readonly HealthReport[]): boolean =>
  isHealthy(reports) && reports.every((report) => stateOf(report) !== 'Initializing')

export const ask = async (probe: HealthProbe, timeoutMs: number): Promise<HealthReport> => {
  const { namespace, component } = probe
  const patience = new AbortController()
  try {
    const answer = await within(timeoutMs, check(probe, patience.signal))
    return answer === LATE ? timedOut(probe) : { namespace, component, status: shape(answer, probe) }
  } finally {
    patience.abort()
  }
}

export const timedOut = ({ namespace, component, structName, isOptional }: HealthProbe): HealthReport => ({
  ...{ namespace, component },
  status:
    isOptional === true
      ? { Warning: { struct_name: structName, message: 'no answer in time' } }
      : { Timeout: { struct_name: structName } },
})

const check = async (probe: HealthProbe, signal: AbortSignal): Promise<HealthStatus> => {
  try {
    return await probe.check(signal)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { state: 'Failed', message: 'the health check failed', error: reason }
  }
}

const shape = (status: HealthStatus, { structName: struct_name, isOptional }: HealthProbe): HealthReport['status'] => {
  const { message } = status
  if (status.state !== 'Failed') return { [status.state]: { struct_name, message } }
  if (isOptional === true) return { Warning: { struct_name, message: `${message}: ${status.error}` } }
  return { Failed: { struct_name, message, error: status.error } }
}
