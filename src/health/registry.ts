import type { HealthProbe, HealthStatus } from '../base/health.js'
import { type Log, silentLog } from '../log/log.js'
import { LATE, within } from '../work/deadline.js'
import { inBackground } from '../work/in-background.js'

/** One element of the health report (interface specification 2.6). `status` has exactly one key. */
export interface HealthReport {
  readonly namespace: string
  readonly component: string
  readonly status: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export type HealthState = 'Ok' | 'Initializing' | 'Warning' | 'Failed' | 'Timeout'

const STATES: readonly HealthState[] = ['Ok', 'Initializing', 'Warning', 'Failed', 'Timeout']

export const stateOf = ({ status }: HealthReport): HealthState => STATES.find((state) => state in status) ?? 'Failed'

/** How long `lately` waits for a component whose last answer is stale. */
const PROMPT_MS = 2
/** `lately` asks a working component at most once in this time, because each check may write to a disk. */
const FRESH_MS = 1000
/** How long `lately` may use an answer. All components are asked every ten seconds, also without probes. */
const KEPT_MS = 25_000

const isBroken = (state: HealthState): boolean => state === 'Failed' || state === 'Timeout'

/**
 * Every watched component. A report asks all of them at once, logs each change of a component's state, and
 * notifies the listener whether the whole process is healthy.
 */
export class HealthRegistry {
  readonly #probes: HealthProbe[] = []
  /** By component. */
  readonly #expected = new Map<string, HealthProbe>()
  /** The running check of each component, the check queued behind it, and the last answer. */
  readonly #asking = new Map<HealthProbe, Promise<HealthReport>>()
  readonly #next = new Map<HealthProbe, Promise<HealthReport>>()
  readonly #kept = new Map<HealthProbe, { readonly report: HealthReport; readonly atMs: number }>()
  readonly #states = new Map<string, HealthState>()
  readonly #log: Log
  readonly #freshMs: number
  #listener: (isHealthy: boolean) => void = () => {}

  constructor(log: Log = silentLog, { freshMs = FRESH_MS }: { readonly freshMs?: number } = {}) {
    this.#log = log
    this.#freshMs = freshMs
  }

  register(probe: HealthProbe): void {
    this.#expected.delete(probe.component)
    this.#probes.push(probe)
  }

  /** Adds a component that registers itself once it has started. It is Initializing until then. */
  expect({ namespace, component, structName }: Omit<HealthProbe, 'check'>): void {
    const check = async (): Promise<HealthStatus> => ({ state: 'Initializing', message: 'it is starting' })
    this.#expected.set(component, { namespace, component, structName, check })
  }

  /** Calls `listener` after each report: true if no component is Failed or Timeout. */
  onReport(listener: (isHealthy: boolean) => void): void {
    this.#listener = listener
  }

  /** Number of components in each state, by their last answers. */
  counts(): ReadonlyMap<string, number> {
    const states = [...this.#states.values()]
    return new Map(STATES.map((state) => [state.toLowerCase(), states.filter((one) => one === state).length]))
  }

  /**
   * Asks every component. Never rejects: a probe that throws is Failed, one without an answer after
   * `timeoutMs` is Timeout. Sorted by namespace.
   */
  report(timeoutMs: number): Promise<HealthReport[]> {
    return this.#gathered((probe) => this.#askFromNowOn(probe, timeoutMs))
  }

  /** Like `report`, but uses recent answers, so it returns without waiting for slow components. */
  lately(timeoutMs: number): Promise<HealthReport[]> {
    return this.#gathered((probe) => this.#known(probe, timeoutMs))
  }

  async #gathered(ask: (probe: HealthProbe) => Promise<HealthReport>): Promise<HealthReport[]> {
    const probes = [...this.#probes, ...this.#expected.values()]
    const reports = await Promise.all(probes.map(ask))
    this.#tellWhole()
    return reports.sort((a, b) => (a.namespace < b.namespace ? -1 : 1))
  }

  /**
   * Returns the last answer if it is Ok and fresh. Otherwise asks the component, but waits only PROMPT_MS if
   * the last answer is at most KEPT_MS old, because a disk or a remote server may be slow. A late answer is
   * still recorded. A component that does not work is asked every time, so its recovery shows at once.
   */
  async #known(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    const kept = this.#kept.get(probe)
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : performance.now() - kept.atMs
    if (kept !== undefined && ageMs < this.#freshMs && stateOf(kept.report) === 'Ok') return kept.report
    const asking = this.#askOnce(probe, timeoutMs)
    if (kept === undefined || ageMs > KEPT_MS) return asking
    const answer = await within(PROMPT_MS, asking)
    if (answer !== LATE) return answer
    inBackground(
      asking.then(() => this.#tellWhole()),
      this.#log,
      'a late answer about health',
    )
    return kept.report
  }

  /**
   * Returns the answer to a check that starts after this call, because a running check may have seen an older
   * state. Callers that arrive during a check share the next one. None waits longer than `timeoutMs`.
   */
  async #askFromNowOn(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    const asking = this.#asking.get(probe)
    if (asking === undefined) return this.#askAnew(probe, timeoutMs)
    const next = this.#next.get(probe) ?? asking.then(() => this.#askNext(probe, timeoutMs))
    this.#next.set(probe, next)
    const answer = await within(timeoutMs, next)
    return answer === LATE ? timedOut(probe) : answer
  }

  #askNext(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    this.#next.delete(probe)
    return this.#askOnce(probe, timeoutMs)
  }

  /** Callers share a running check. */
  #askOnce(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    return this.#asking.get(probe) ?? this.#askAnew(probe, timeoutMs)
  }

  #askAnew(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    const asking = ask(probe, timeoutMs).then((report) => {
      this.#asking.delete(probe)
      this.#kept.set(probe, { report, atMs: performance.now() })
      this.#tell(report)
      return report
    })
    this.#asking.set(probe, asking)
    return asking
  }

  #tellWhole(): void {
    this.#listener([...this.#states.values()].every((state) => !isBroken(state)))
  }

  /** Logs a change of state. The first answer is logged only if the component does not work. */
  #tell(report: HealthReport): void {
    const { component } = report
    const state = stateOf(report)
    const before = this.#states.get(component)
    this.#states.set(component, state)
    if (before === state || (before === undefined && !isBroken(state))) return
    const fields = { component, state, ...reasonOf(report) }
    if (isBroken(state)) {
      if (before === undefined || !isBroken(before)) this.#log.error('a component does not work', fields)
    } else if (before !== undefined && isBroken(before)) this.#log.info('a component works again', fields)
    else if (state === 'Warning') this.#log.warn('a component works, but not as it should', fields)
    else this.#log.info('a component changed its state', fields)
  }
}

const reasonOf = (report: HealthReport): { readonly reason?: string } => {
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

const ask = async (probe: HealthProbe, timeoutMs: number): Promise<HealthReport> => {
  const { namespace, component, structName } = probe
  const patience = new AbortController()
  try {
    const answer = await within(timeoutMs, check(probe, patience.signal))
    return answer === LATE ? timedOut(probe) : { namespace, component, status: shape(answer, structName) }
  } finally {
    patience.abort()
  }
}

const timedOut = ({ namespace, component, structName }: HealthProbe): HealthReport => ({
  ...{ namespace, component },
  status: { Timeout: { struct_name: structName } },
})

const check = async (probe: HealthProbe, signal: AbortSignal): Promise<HealthStatus> => {
  try {
    return await probe.check(signal)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { state: 'Failed', message: 'the health check failed', error: reason }
  }
}

const shape = (status: HealthStatus, struct_name: string): HealthReport['status'] => {
  const { message } = status
  return {
    [status.state]:
      status.state === 'Failed' ? { struct_name, message, error: status.error } : { struct_name, message },
  }
}
