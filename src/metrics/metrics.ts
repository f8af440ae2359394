import { Ledger } from '../ledger/ledger.js'
import { BoundedValues } from './bounded-values.js'
import { CallMetrics } from './call-metrics.js'
import { ElectionMetrics } from './election-metrics.js'
import { ExecutionMetrics } from './execution-metrics.js'
import { HttpCacheMetrics } from './http-cache-metrics.js'
import { HttpMetrics } from './http-metrics.js'
import { type Instrument, observed, type Reading } from './instrument.js'
import { ledgerInstruments } from './ledger-metrics.js'
import { ProcessMetrics } from './process-metrics.js'
import { StoreMetrics } from './store-metrics.js'

/** Clients choose the names of instances that a catch-all entry serves. */
const MAX_INSTANCE_NAMES = 100

export interface MetricsOptions {
  /** Whether completed executions are counted for each action. Helps to find an action, but creates many series. */
  readonly labelsActionDigests: boolean
  /** Whether calls, completed executions and the work of stores are counted for each instance. */
  readonly labelsInstanceNames?: boolean
}

/**
 * All measurements of the service, as plain numbers held by their users. Only reading is expensive: the exporter reads
 * once a period, the status page on request.
 */
export class Metrics {
  readonly stores: StoreMetrics
  readonly executions: ExecutionMetrics
  readonly elections = new ElectionMetrics()
  readonly calls: CallMetrics
  readonly httpCaches = new HttpCacheMetrics()
  readonly http = new HttpMetrics()
  readonly startedMs: number
  readonly #process = new ProcessMetrics()
  #lostLines = (): number => 0
  readonly #ledger: Ledger
  #lostAuditLines: (() => number) | undefined
  readonly #certificates = new Map<string, () => number | undefined>()
  #invocations: InvocationCounts | undefined
  #scopeReads: (() => Readonly<Record<string, number>> | undefined) | undefined
  #isRunning = true
  #statuses: () => ReadonlyMap<string, number> = () => new Map()

  constructor(options: MetricsOptions, nowMs: number, ledger = new Ledger()) {
    this.#ledger = ledger
    const { labelsActionDigests, labelsInstanceNames = false } = options
    // One set for all, so that an instance has the same label everywhere.
    const instanceNames = labelsInstanceNames ? new BoundedValues(MAX_INSTANCE_NAMES) : undefined
    this.stores = new StoreMetrics(instanceNames)
    this.calls = new CallMetrics(instanceNames)
    this.executions = new ExecutionMetrics({ labelsActionDigests, instanceNames })
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

  /** `lostLines` returns the number of lines of the audit log that could not be written since the start. */
  watchAudit(lostLines: () => number): void {
    this.#lostAuditLines = lostLines
  }

  watchInvocations(counts: InvocationCounts): void {
    this.#invocations = counts
  }

  /** `reads` returns what callers with a scope found, by layer; undefined if no caller has one. */
  watchScopes(reads: () => Readonly<Record<string, number>> | undefined): void {
    this.#scopeReads = reads
  }

  /** `expiresMs` returns when the present certificate of a server ends. */
  watchCertificate(server: string, expiresMs: () => number | undefined): void {
    this.#certificates.set(server, expiresMs)
  }

  /** Called before the last export of a process that stops in order: one that vanishes without it has crashed. */
  endInOrder(): void {
    this.#isRunning = false
  }

  get instruments(): readonly Instrument[] {
    return [
      ...this.stores.instruments,
      ...this.executions.instruments,
      ...this.elections.instruments,
      this.calls.instrument,
      ...this.httpCaches.instruments,
      ...this.http.instruments,
      ...this.#process.instruments,
      ...ledgerInstruments(this.#ledger),
      observed('gauge', HEALTH, () =>
        [...this.#statuses()].map(([health_status, value]) => ({ labels: { health_status }, value })),
      ),
      observed('counter', LOST_LINES, () => [{ labels: {}, value: this.#lostLines() }]),
      observed('counter', LOST_AUDIT_LINES, () =>
        this.#lostAuditLines === undefined ? [] : [{ labels: {}, value: this.#lostAuditLines() }],
      ),
      observed('gauge', INVOCATIONS, () => readingOf(this.#invocations?.count)),
      observed('counter', SCOPE_READS, () =>
        Object.entries(this.#scopeReads?.() ?? {}).map(([scope_layer, value]) => ({ labels: { scope_layer }, value })),
      ),
      observed('counter', LEASE_EXTENSIONS, () => readingOf(this.#invocations?.extensionCount)),
      observed('gauge', CERTIFICATES, () => this.#certificateEnds()),
      observed('gauge', RUNNING, () => [{ labels: {}, value: this.#isRunning ? 1 : 0 }]),
    ]
  }

  stop(): void {
    this.#process.stop()
  }

  #certificateEnds(): Reading[] {
    return [...this.#certificates].flatMap(([certificate_server, expiresMs]) => {
      const ms = expiresMs()
      return ms === undefined ? [] : [{ labels: { certificate_server }, value: ms / 1000 }]
    })
  }
}

/** The builds of clients that are alive, and their calls that only ask to keep blobs. */
export interface InvocationCounts {
  readonly count: number
  readonly extensionCount: number
}

const readingOf = (value: number | undefined): Reading[] => (value === undefined ? [] : [{ labels: {}, value }])

const INVOCATIONS = {
  name: 'svc_invocations',
  description: 'Builds of clients that are alive. Stores keep what they used.',
  unit: '{invocation}',
}

const LEASE_EXTENSIONS = {
  name: 'svc_lease_extensions_total',
  description: 'Calls with which clients ask to keep blobs (Bazel: lease extension).',
  unit: '{call}',
}

const SCOPE_READS = {
  name: 'svc_scope_reads_total',
  description: 'Results of actions that callers with a scope asked for, by where they were found.',
  unit: '{read}',
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

const LOST_AUDIT_LINES = {
  name: 'svc_audit_lines_lost_total',
  description: 'Lines of the audit log that could not be written.',
  unit: '{line}',
}

const CERTIFICATES = {
  name: 'svc_certificate_expiry',
  description: 'When the certificate of a server ends, in seconds since 1970.',
  unit: 's',
}

const RUNNING = {
  name: 'svc_process_running',
  description: '1 while the process runs, 0 in the last export of one that stops in order.',
  unit: '1',
}
