import type { HealthProbe, HealthStatus } from '../base/health.js'
import { type Log, silentLog } from '../base/log.js'
import { LATE, within } from '../base/work/deadline.js'

/** One element of the health report (interface specification 2.6). `status` has exactly one key. */
export interface HealthReport {
  readonly namespace: string
  readonly component: string
  readonly status: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export type HealthState = 'Ok' | 'Initializing' | 'Warning' | 'Failed' | 'Timeout'

const STATES: readonly HealthState[] = ['Ok', 'Initializing', 'Warning', 'Failed', 'Timeout']

export const stateOf = ({ status }: HealthReport): HealthState => STATES.find((state) => state in status) ?? 'Failed'

/** What who asks for what is known waits for components whose last answer is. */
const PROMPT_MS = 2
/** For them a component that works is asked once in so long: each question is a write to a disk. */
const FRESH_MS = 1000
/** How long an answer is good for: all are asked every ten seconds whether or not somebody probes. */
const KEPT_MS = 25_000

const isBroken = (state: HealthState): boolean => state === 'Failed' || state === 'Timeout'

/**
 * Every component that asked to be watched. A report asks all of them at once, tells the log of each component whose
 * state is another than it was, and tells whoever listens whether the whole is healthy.
 */
export class HealthRegistry {
  readonly #probes: HealthProbe[] = []
  /** By component. */
  readonly #expected = new Map<string, HealthProbe>()
  /** What components are being asked, will be asked behind that, and answered last. */
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

  /** A component that will register itself once it has started is Initializing until then. */
  expect({ namespace, component, structName }: Omit<HealthProbe, 'check'>): void {
    const check = async (): Promise<HealthStatus> => ({ state: 'Initializing', message: 'it is starting' })
    this.#expected.set(component, { namespace, component, structName, check })
  }

  /** `listener` is told with each report whether no component Failed or timed out. */
  onReport(listener: (isHealthy: boolean) => void): void {
    this.#listener = listener
  }

  /** How many components had which state when they were last asked. */
  counts(): ReadonlyMap<string, number> {
    const states = [...this.#states.values()]
    return new Map(STATES.map((state) => [state.toLowerCase(), states.filter((one) => one === state).length]))
  }

  /**
   * Asks every component. Never rejects: a probe that throws is Failed, one silent for `timeoutMs` is Timeout. Sorted by
   * namespace.
   */
  report(timeoutMs: number): Promise<HealthReport[]> {
    return this.#gathered((probe) => this.#askFromNowOn(probe, timeoutMs))
  }

  /** The same by what is known, where that is enough: takes no longer than memory does. */
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
   * Of a component that worked a moment ago, or does not answer at once, what it answered last, if that is not long ago: a disk or a
   * line to another machine may take its time. Its answer is told when it comes, and is there for who asks next. What does
   * not work is asked each time, so that it is well as soon as it is.
   */
  async #known(probe: HealthProbe, timeoutMs: number): Promise<HealthReport> {
    const kept = this.#kept.get(probe)
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : performance.now() - kept.atMs
    if (kept !== undefined && ageMs < this.#freshMs && stateOf(kept.report) === 'Ok') return kept.report
    const asking = this.#askOnce(probe, timeoutMs)
    if (kept === undefined || ageMs > KEPT_MS) return asking
    const answer = await within(PROMPT_MS, asking)
    if (answer !== LATE) return answer
    void asking.then(() => this.#tellWhole())
    return kept.report
  }

  /**
   * Its answer to a question that is not put before now: one that is under way may have seen it as it was. All who come
   * meanwhile get that of the next question, and wait no longer than for one of their own.
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

  /** Whoever comes while it is being asked gets the same answer. */
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

  /** A component that is not seen before is expected to be fine, or to become so. */
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

/** Failed and Timeout mean that the service as a whole is not healthy (specification 2.6). */
export const isHealthy = (reports: readonly HealthReport[]): boolean =>
  reports.every((report) => !isBroken(stateOf(report)))

/** Whether there is nothing to wait for before it is given work. */
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
