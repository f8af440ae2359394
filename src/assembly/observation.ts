import type { Clock } from '../base/clock.js'
import type { HealthProbe } from '../base/health.js'
import { version } from '../base/version.js'
import type { Config, ServerConfig } from '../config/config.js'
import { healthPages } from '../health/page.js'
import { HealthRegistry } from '../health/registry.js'
import { page } from '../http/answer.js'
import { type HttpAnswer, type HttpHandler, type HttpRequest, pageRoute, type Route } from '../http/request.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import { Metrics } from '../metrics/metrics.js'
import type { OtlpSettings } from '../otlp/settings.js'
import { pageAnswer } from '../pages/layout.js'
import { Visit } from '../pages/page.js'
import { serverPages } from '../pages/server/pages.js'
import { RecentLines } from '../pages/server/recent-lines.js'
import { wholeServer } from '../pages/server/server.js'
import type { OperatorForms, Overviews, ServerSources } from '../pages/server/sources.js'
import { Trends } from '../pages/server/trends.js'
import type { Site } from '../pages/site.js'
import type { Tracer } from '../rpc/trace.js'
import { structNameOf as schedulerStructName } from '../scheduler/kinds.js'
import { structNameOf as storeStructName } from '../store/struct-name.js'
import type { Resources } from '../work/resources.js'

/** The output of the log. Counts lines that it could not write. */
export interface LogOutput {
  readonly lostLines: number
  readonly probe: HealthProbe
  /** Called once, when the first line is lost. */
  onFirstLoss: () => void
}

export interface ObservationParts {
  readonly config: Config
  readonly resources: Resources
  readonly clock: Clock
  /** Accounts for memory held for clients. */
  readonly ledger: Ledger
  readonly log: Log
  readonly logOutput: LogOutput | undefined
  readonly otlp: OtlpSettings | undefined
  readonly isStopping: () => boolean
}

interface ServerPagesOf {
  readonly overviews: Overviews
  readonly refresh: () => Promise<void>
  readonly scopes: ServerSources['scopes']
  readonly forms: OperatorForms | undefined
  readonly site: Site | undefined
}

/** Of the page about a server that has no others. */
const HOME = '/'

/** Of the checks in the background if no server has the health service. */
const DEFAULT_HEALTH_TIMEOUT_S = 5

/**
 * What operators use to observe the process: metrics, health, log and traces. Started before all other parts and
 * stopped after them.
 */
export class Observation {
  readonly metrics: Metrics
  readonly health: HealthRegistry
  /** The log for all parts. The status page also shows the latest warnings and errors. */
  readonly log: Log
  readonly #parts: ObservationParts
  readonly #recent: RecentLines
  readonly #trends: Trends
  #tracer: Tracer | undefined
  #metricsPage: HttpHandler | undefined
  /** Names the builds of the queue. There are none before events are kept. */
  nameBuilds: ServerSources['buildOf'] = () => undefined

  private constructor(parts: ObservationParts) {
    const { config, clock, logOutput } = parts
    this.#parts = parts
    this.#recent = new RecentLines(parts.log, clock)
    this.log = this.#recent
    this.health = new HealthRegistry(this.log, clock)
    const { metrics_action_digests: labelsActionDigests, metrics_instance_names: labelsInstanceNames } = config.global
    this.metrics = new Metrics({ labelsActionDigests, labelsInstanceNames }, clock.now(), parts.ledger)
    this.#trends = new Trends(this.metrics, clock)
    this.metrics.watchHealth(() => this.health.counts())
    this.metrics.watchLog(() => logOutput?.lostLines ?? 0)
    if (logOutput !== undefined) this.#watchLog(logOutput)
    this.#expectParts(config)
  }

  static async start(parts: ObservationParts): Promise<Observation> {
    const observation = new Observation(parts)
    const { resources } = parts
    resources.add('metrics', () => observation.metrics.stop())
    resources.add('trends', () => observation.#trends.close())
    resources.add('metrics export', await observation.#export())
    resources.add('trace export', await observation.#trace())
    await observation.#loadMetricsPage()
    return observation
  }

  /** The metrics; undefined if the configuration disables them. */
  get meters(): Metrics | undefined {
    return this.#parts.config.global.disable_metrics ? undefined : this.metrics
  }

  /** Undefined if traces are not exported. */
  get tracer(): Tracer | undefined {
    return this.#tracer
  }

  /** Starts to check every component in the background, so that a problem such as a full disk is also logged. */
  watchHealth(listener: (isHealthy: boolean) => void): void {
    const { config, resources } = this.#parts
    const configured = config.servers.flatMap(({ services: { health } }) => health?.timeout_seconds ?? [])
    const patienceMs = 1000 * (configured.length === 0 ? DEFAULT_HEALTH_TIMEOUT_S : Math.min(...configured))
    resources.add('health watch', this.health.watch(patienceMs, listener))
  }

  /**
   * The page of the metrics service and those of the health service. What people see of the server is on its site; with the
   * health service alone on one page.
   */
  pagesOf(server: ServerConfig, { overviews, refresh, scopes, forms, site }: ServerPagesOf): readonly Route[] {
    const { services } = server
    const { health, metrics } = this
    const { config, clock, isStopping } = this.#parts
    const ofMetrics = this.#metricsPage
    const { path: metricsPath, anonymous = false } = services.metrics ?? {}
    // They have data of all instances.
    const access = anonymous ? 'open' : 'operator'
    const own = metricsPath === undefined || ofMetrics === undefined ? [] : [pageRoute(metricsPath, ofMetrics, access)]
    const sources: ServerSources = {
      ...{
        config,
        server,
        health,
        metrics,
        recent: this.#recent,
        trends: this.#trends,
        overviews,
        refresh,
        scopes,
        forms,
      },
      buildOf: (invocation, instance) => this.nameBuilds(invocation, instance),
      ...{ version: version(), healthPath: services.health?.path },
    }
    site?.serveEarly(serverPages(sources))
    if (services.health === undefined) return own
    const people =
      site === undefined ? [pageRoute(HOME, (request) => wholePage(sources, request, clock), 'operator')] : []
    const { path, timeout_seconds } = services.health
    const timeoutMs = timeout_seconds * 1000
    const probes = [...healthPages(path, { registry: health, timeoutMs, isStopping })]
    return [...own, ...people, ...probes.map(([probe, work]) => pageRoute(probe, page(work), 'open'))]
  }

  /** The log becomes a component of the report with its first lost line. */
  #watchLog(logOutput: LogOutput): void {
    const register = (): void => this.health.register(logOutput.probe)
    if (logOutput.lostLines > 0) register()
    else logOutput.onFirstLoss = register
  }

  /** Adds all parts of the configuration to the report as Initializing, so that it is complete during the start. */
  #expectParts({ stores, schedulers, workers }: Config): void {
    const expect = (namespace: string, component: string, structName: string, isAwaited = false): void =>
      this.health.expect({ namespace, component, structName, isAwaited })
    for (const [name, store] of stores) expect(`/stores/${name}`, `stores/${name}`, storeStructName(store, stores))
    for (const [name, scheduler] of schedulers)
      expect(`/schedulers/${name}`, `scheduler/${name}`, schedulerStructName(scheduler))
    for (const { options } of workers)
      expect(`/workers/${options.name}`, `workers/${options.name}`, 'LocalWorker', true)
  }

  /** Loads the exporter only if metrics are exported, because that takes longer than the rest of a start. */
  async #export(): Promise<() => Promise<void>> {
    const { otlp: settings, clock } = this.#parts
    if (settings?.metrics === undefined || this.meters === undefined) return async () => {}
    const { startMetricExport } = await import('../otlp/metric-export.js')
    return startMetricExport(this.metrics, { settings, version: version(), clock, log: this.log })
  }

  /** Loads what writes it only if a server has it. */
  async #loadMetricsPage(): Promise<void> {
    const { config, otlp, clock } = this.#parts
    if (config.servers.every(({ services }) => services.metrics === undefined)) return
    const { prometheusPage } = await import('../otlp/prometheus-page.js')
    const attributes = otlp?.resourceAttributes ?? {}
    this.#metricsPage = page(prometheusPage({ metrics: this.metrics, attributes, now: () => clock.now() }))
  }

  async #trace(): Promise<() => Promise<void>> {
    const { otlp: settings, clock } = this.#parts
    if (settings?.traces === undefined) return async () => {}
    const { startTraceExport } = await import('../otlp/trace-export.js')
    const { tracer, stop } = await startTraceExport(settings.traces, settings.resourceAttributes, {
      version: version(),
      clock,
      log: this.log,
    })
    this.#tracer = tracer
    return stop
  }
}

const wholePage = async (sources: ServerSources, request: HttpRequest, clock: Clock): Promise<HttpAnswer> => {
  await sources.refresh()
  const shown = await wholeServer(sources, new Visit(request, {}, { root: HOME, nowMs: clock.now(), origin: '' }))
  const { visitor } = request
  const reader = visitor && { identity: visitor.identity, login: undefined, logout: undefined }
  const isOn = request.query.get('live') !== 'off'
  const live = { isOn, link: isOn ? `${HOME}?live=off` : HOME }
  return pageAnswer(200, { ...shown, live, reader, menu: [], current: undefined, version: sources.version })
}
