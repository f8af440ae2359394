import { type Clock, systemClock } from '../base/clock.js'
import type { HealthProbe } from '../base/health.js'
import { type Log, silentLog } from '../log/log.js'
import { LATE, within } from '../work/deadline.js'
import { inBackground } from '../work/in-background.js'
import { shareCause } from './causes.js'
import { ask, type HealthReport, initializing, isBroken, reasonOf, STATES, stateOf, timedOut } from './report.js'

/** Time from an answer to the next check of a working component. */
const PERIOD_MS = 10_000
/** The same for a component that is starting or broken, so that its start or recovery shows soon. */
const SHORT_PERIOD_MS = 1000

/** The last answer of a component. */
export interface Answer {
  readonly report: HealthReport
  readonly ageMs: number
}

interface Component {
  readonly probe: HealthProbe
  /** The check in progress. */
  asking?: Promise<HealthReport> | undefined
  /** Whether it has been in another state than Initializing. */
  hasStarted?: boolean
  last?: { readonly report: HealthReport; readonly atMs: number }
  /** Whether its trouble is in the log, itself or with that of a component it is nested in. */
  isTold?: boolean
}

/**
 * Every component of the health report. `watch` asks them in the background, `latest` returns the last answers, and
 * `report` asks all of them now. Each change of a component's state is logged.
 */
export class HealthRegistry {
  readonly #components = new Set<Component>()
  /** Components that register once they have started. */
  readonly #expected = new Map<string, Omit<HealthProbe, 'check'>>()
  readonly #log: Log
  readonly #clock: Clock
  /** Asks due components while `watch` runs. */
  #askDue: () => void = () => {}
  #listener: (isHealthy: boolean) => void = () => {}

  constructor(log: Log = silentLog, clock: Clock = systemClock) {
    this.#log = log
    this.#clock = clock
  }

  register(probe: HealthProbe): void {
    this.#expected.delete(probe.component)
    this.#components.add({ probe })
    this.#askDue()
  }

  /** Adds a component that registers itself once it has started. It is Initializing until then. */
  expect(component: Omit<HealthProbe, 'check'>): void {
    this.#expected.set(component.component, component)
  }

  /**
   * Asks each component now, when it registers, and periodically, until the returned function is called. A component
   * without an answer after `patienceMs` is Timeout. The listener is called after each answer: true if no component is
   * Failed or Timeout, and none is awaited.
   */
  watch(patienceMs: number, listener: (isHealthy: boolean) => void): () => void {
    this.#listener = listener
    this.#askDue = () => {
      const due = [...this.#components].filter(({ last }) => last === undefined || this.#isDue(last))
      for (const one of due) inBackground(this.#ask(one, patienceMs), this.#log, 'a health check')
    }
    this.#askDue()
    const stop = this.#clock.every(SHORT_PERIOD_MS, () => this.#askDue())
    return () => {
      stop()
      this.#askDue = () => {}
    }
  }

  /** Components without which the service is not healthy, and which have not started yet. */
  get awaited(): readonly string[] {
    const starting = [...this.#components].filter(({ hasStarted }) => hasStarted !== true).map(({ probe }) => probe)
    return [...this.#expected.values(), ...starting].filter(isAwaited).map(({ component }) => component)
  }

  /** Number of components in each state, by their last answers. */
  counts(): ReadonlyMap<string, number> {
    const states = this.latest().map(({ report }) => stateOf(report))
    return new Map(STATES.map((state) => [state.toLowerCase(), states.filter((one) => one === state).length]))
  }

  /**
   * Asks every component. Never rejects: a check that throws is Failed, one without an answer after `timeoutMs` is
   * Timeout. Sorted by namespace. Concurrent callers share one check of a component.
   */
  async report(timeoutMs: number): Promise<HealthReport[]> {
    const answers = [...this.#components].map(async (component) => {
      const answer = await within(timeoutMs, this.#ask(component, timeoutMs))
      return answer === LATE ? timedOut(component.probe) : answer
    })
    const reports = await Promise.all(answers)
    return [...reports, ...[...this.#expected.values()].map(initializing)].sort(byNamespace)
  }

  /** The last answers, sorted by namespace. A component that has not answered yet is Initializing. */
  latest(): Answer[] {
    const nowMs = this.#clock.now()
    const answers = [...this.#components].map(({ probe, last }) =>
      last === undefined
        ? { report: initializing(probe), ageMs: 0 }
        : { report: last.report, ageMs: nowMs - last.atMs },
    )
    const expected = [...this.#expected.values()].map((one) => ({ report: initializing(one), ageMs: 0 }))
    return [...answers, ...expected].sort((a, b) => byNamespace(a.report, b.report))
  }

  #isDue({ report, atMs }: { readonly report: HealthReport; readonly atMs: number }): boolean {
    const state = stateOf(report)
    const ageMs = this.#clock.now() - atMs
    // Below 0: the clock was set back.
    return ageMs < 0 || ageMs >= (state === 'Ok' || state === 'Warning' ? PERIOD_MS : SHORT_PERIOD_MS)
  }

  #ask(component: Component, timeoutMs: number): Promise<HealthReport> {
    component.asking ??= ask(component.probe, timeoutMs).then((report) => {
      component.asking = undefined
      this.#logChange(component, report)
      component.last = { report, atMs: this.#clock.now() }
      if (stateOf(report) !== 'Initializing') component.hasStarted = true
      const isBrokenNow = this.latest().some((answer) => isBroken(stateOf(answer.report)))
      this.#listener(!isBrokenNow && this.awaited.length === 0)
      return report
    })
    return component.asking
  }

  /**
   * Logs a change of state. The first answer is logged only if the component does not work. Of components that are nested in
   * each other and have the same trouble the first is logged, because one backend that is away is one event.
   */
  #logChange(component: Component, report: HealthReport): void {
    const before = component.last && stateOf(component.last.report)
    const state = stateOf(report)
    const wasBroken = before !== undefined && isBroken(before)
    const wasTold = component.isTold === true
    const fields = { component: report.component, state, ...reasonOf(report) }
    if (isBroken(state)) {
      if ((wasTold && wasBroken) || this.#isTold(report)) return
      component.isTold = true
      this.#log.error('a component does not work', fields)
    } else if (wasBroken) {
      component.isTold = wasTold && state === 'Warning'
      if (wasTold) this.#log.info('a component works again', fields)
    } else if (state === 'Warning') {
      if (wasTold || this.#isTold(report)) return
      component.isTold = true
      if (before !== undefined) this.#log.warn('a component works, but not as it should', fields)
    } else {
      component.isTold = false
      const wasWarning = before === 'Warning'
      if (before !== undefined && before !== state && (wasTold || !wasWarning))
        this.#log.info('a component changed its state', fields)
    }
  }

  /** Whether the log has the trouble of a component by one that it is nested in, or that is nested in it. */
  #isTold(report: HealthReport): boolean {
    return [...this.#components].some(
      ({ isTold, last }) => isTold === true && last !== undefined && shareCause(last.report, report),
    )
  }
}

const isAwaited = ({ isAwaited = false }: Pick<HealthProbe, 'isAwaited'>): boolean => isAwaited

const byNamespace = (a: HealthReport, b: HealthReport): number => (a.namespace < b.namespace ? -1 : 1)
