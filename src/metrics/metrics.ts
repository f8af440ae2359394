import { Ledger } from '../ledger/ledger.js'
import { CallMetrics } from './call-metrics.js'
import { ExecutionMetrics } from './execution-metrics.js'
import { type Instrument, observed } from './instrument.js'
import { ledgerInstruments } from './ledger-metrics.js'
import { ProcessMetrics } from './process-metrics.js'
import { StoreMetrics } from './store-metrics.js'

export interface MetricsOptions {
  /** Whether completed executions are counted for each action. Helps to find an action, but creates many series. */
  readonly labelsActionDigests: boolean
}

/**
 * All measurements of the service, as plain numbers held by their users. Only reading is expensive: the exporter reads
 * once a period, the status page on request.
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

  /** `statuses` returns the number of components by health status. */
  watchHealth(statuses: () => ReadonlyMap<string, number>): void {
    this.#statuses = statuses
  }

  /** `lostLines` returns the number of log lines that could not be written since the start. */
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
