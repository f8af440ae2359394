import { Ledger } from '../ledger/ledger.js'
import { CallMetrics } from './call-metrics.js'
import { ExecutionMetrics } from './execution-metrics.js'
import { type Instrument, observed } from './instrument.js'
import { ledgerInstruments } from './ledger-metrics.js'
import { ProcessMetrics } from './process-metrics.js'
import { StoreMetrics } from './store-metrics.js'

export interface MetricsOptions {
  /** Whether completed executions are counted for each action: of use to who looks for one, and many series. */
  readonly labelsActionDigests: boolean
}

/**
 * Everything the service measures, as plain numbers that whoever counts holds. Reading is what costs: the exporter does
 * it once a period, the status page when somebody looks.
 */
export class Metrics {
  readonly stores = new StoreMetrics()
  readonly executions: ExecutionMetrics
  readonly calls = new CallMetrics()
  readonly startedMs: number
  readonly #process = new ProcessMetrics()
  #lostLines = (): number => 0
  readonly #ledger: Ledger
  #statuses: () => ReadonlyMap<string, number> = () => new Map()

  constructor(options: MetricsOptions, nowMs: number, ledger = new Ledger()) {
    this.#ledger = ledger
    this.executions = new ExecutionMetrics(options)
    this.startedMs = nowMs
  }

  /** `statuses` answers how many components have which health status. */
  watchHealth(statuses: () => ReadonlyMap<string, number>): void {
    this.#statuses = statuses
  }

  /** `lostLines` answers how many lines of the log could not be written since the start. */
  watchLog(lostLines: () => number): void {
    this.#lostLines = lostLines
  }

  get instruments(): readonly Instrument[] {
    return [
      ...this.stores.instruments,
      ...this.executions.instruments,
      this.calls.instrument,
      ...this.#process.instruments,
      ...ledgerInstruments(this.#ledger),
      observed('gauge', HEALTH, () =>
        [...this.#statuses()].map(([health_status, value]) => ({ labels: { health_status }, value })),
      ),
      observed('counter', LOST_LINES, () => [{ labels: {}, value: this.#lostLines() }]),
    ]
  }

  stop(): void {
    this.#process.stop()
  }
}

const HEALTH = {
  name: 'svc_health_components',
  description: 'Components of the health report, by status.',
  unit: '{component}',
}

const LOST_LINES = {
  name: 'svc_log_lines_lost_total',
  description: 'Lines of the log that could not be written.',
  unit: '{line}',
}
