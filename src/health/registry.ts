import type { HealthProbe, HealthStatus } from '../base/health.js'
import { type Log, silentLog } from '../base/log.js'
import { LATE, within } from '../base/work/deadline.js'

/** One element of the health report (interface specification 2.6). `status` has exactly one key. */
export interface HealthReport {
  readonly namespace: string
  readonly component: string
  readonly status: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/**
 * Every component that asked to be watched. A report asks all of them at once, and tells the log of a component that has
 * stopped working since the last one, and of one that works again.
 */
export class HealthRegistry {
  readonly #probes: HealthProbe[] = []
  readonly #broken = new Set<string>()
  #statuses: ReadonlyMap<string, number> = new Map()
  readonly #log: Log

  constructor(log: Log = silentLog) {
    this.#log = log
  }

  register(probe: HealthProbe): void {
    this.#probes.push(probe)
  }

  /** How many components had which status when they were last asked. */
  statuses(): ReadonlyMap<string, number> {
    return this.#statuses
  }

  /** Never rejects: a probe that throws is Failed, one silent for `timeoutMs` is Timeout. Sorted by namespace. */
  async report(timeoutMs: number): Promise<HealthReport[]> {
    const reports = await Promise.all(this.#probes.map((probe) => ask(probe, timeoutMs)))
    for (const report of reports) this.#tell(report)
    this.#statuses = countStates(reports)
    return reports.sort((a, b) => (a.namespace < b.namespace ? -1 : 1))
  }

  #tell({ component, status }: HealthReport): void {
    const [[state, { message, error }] = ['', {} as Readonly<Record<string, string>>]] = Object.entries(status)
    const wasBroken = this.#broken.has(component)
    if (BROKEN.has(state) === wasBroken) return
    if (wasBroken) {
      this.#broken.delete(component)
      this.#log.info('a component works again', { component, state })
      return
    }
    this.#broken.add(component)
    const reason = state === 'Timeout' ? 'no answer in time' : `${message}: ${error}`
    this.#log.error('a component does not work', { component, state, reason })
  }
}

const STATES = ['Ok', 'Initializing', 'Warning', 'Failed', 'Timeout']

const countStates = (reports: readonly HealthReport[]): ReadonlyMap<string, number> =>
  new Map(STATES.map((state) => [state.toLowerCase(), reports.filter(({ status }) => state in status).length]))

const BROKEN: ReadonlySet<string> = new Set(['Failed', 'Timeout'])

/** Failed and Timeout mean that the service as a whole is not healthy (specification 2.6). */
export const isHealthy = (reports: readonly HealthReport[]): boolean =>
  reports.every(({ status }) => !Object.keys(status).some((state) => BROKEN.has(state)))

const ask = async (probe: HealthProbe, timeoutMs: number): Promise<HealthReport> => {
  const { namespace, component, structName } = probe
  const patience = new AbortController()
  try {
    const answer = await within(timeoutMs, check(probe, patience.signal))
    return {
      namespace,
      component,
      status: answer === LATE ? { Timeout: { struct_name: structName } } : shape(answer),
    }
  } finally {
    patience.abort()
  }
}

const check = async (probe: HealthProbe, signal: AbortSignal): Promise<HealthStatus> => {
  try {
    return await probe.check(signal)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { state: 'Failed', structName: probe.structName, message: 'the health check failed', error: reason }
  }
}

const shape = (status: HealthStatus): HealthReport['status'] => {
  const { structName: struct_name, message } = status
  return {
    [status.state]:
      status.state === 'Failed' ? { struct_name, message, error: status.error } : { struct_name, message },
  }
}
