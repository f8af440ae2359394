import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { Clock } from '../base/clock.js'
import type { Log } from '../log/log.js'
import type { Metrics } from '../metrics/metrics.js'
import { within } from '../work/deadline.js'
import { Outcome, reporting } from './outcome.js'
import { Readings } from './readings.js'
import { renewed } from './renewed.js'
import { resourceOf } from './resource.js'
import type { Destination, OtlpSettings } from './settings.js'
import { agentOf, channelOptions, type Pem } from './tls.js'

export interface ExportParts {
  readonly settings: OtlpSettings
  readonly version: string
  readonly clock: Clock
  readonly log: Log
}

/** Timeout of the last export at shutdown, so that an unreachable collector does not delay it. */
const FAREWELL_MS = 1_000

/**
 * Exports the metrics to the collector periodically, in the background. Returns the function that stops this;
 * it exports once more, so the last period is not lost.
 */
export const startMetricExport = async (metrics: Metrics, parts: ExportParts): Promise<() => Promise<void>> => {
  const { settings, version, clock, log } = parts
  if (settings.metrics === undefined) return async () => {}
  const { intervalMs, timeoutMs, files } = settings.metrics
  const destination = settings.metrics
  const resource = resourceOf(settings.resourceAttributes, version)
  const make = (pem: Pem) => exporterOf(destination, pem)
  const { exporter, stop } = await renewed(make, { what: 'metrics', files, clock, log })
  const reader = new PeriodicExportingMetricReader({
    exporter: reporting(exporter, new Outcome('metrics', log)),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    metricProducers: [new Readings(metrics, resource, () => clock.now())],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  // Exports at once, so that the log reports an unreachable collector soon.
  void provider.forceFlush().catch(() => {})
  return async () => {
    stop()
    metrics.endInOrder()
    await within(
      FAREWELL_MS,
      provider.shutdown().catch(() => {}),
    )
  }
}

/** Imports lazily: each exporter has its own dependencies, and most processes export nothing. */
const exporterOf = async (destination: Destination, pem: Pem): Promise<PushMetricExporter> => {
  const { protocol, timeoutMs: timeoutMillis } = destination
  if (protocol === 'grpc') {
    const { OTLPMetricExporter } = await import('./grpc-exporters.js')
    return new OTLPMetricExporter({ timeoutMillis, ...(await channelOptions(destination, pem)) })
  }
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto')
  return new OTLPMetricExporter({ timeoutMillis, httpAgentOptions: agentOf(destination, pem) })
}
