import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Metrics } from '../metrics/metrics.js'
import { Readings } from './readings.js'

export interface PageAnswer {
  readonly status: 200
  readonly contentType: string
  readonly body: string
}

export interface PageParts {
  readonly metrics: Metrics
  /** Those of OTEL_RESOURCE_ATTRIBUTES. */
  readonly attributes: Readonly<Record<string, string>>
  readonly now: () => number
}

/** Becomes a label of every series, as the collector's configuration does: it tells the parts of a fleet apart. */
const LABEL = /^svc\.instance_name$/

/** The page that Prometheus reads: the same names and labels as by OTLP. Prometheus adds `job` and `instance`. */
export const prometheusPage = ({ metrics, attributes, now }: PageParts): (() => Promise<PageAnswer>) => {
  const serializer = new PrometheusSerializer('', false, LABEL, true, true)
  const readings = new Readings(metrics, resourceFromAttributes(attributes), now)
  return async () => {
    const { resourceMetrics, errors } = await readings.collect()
    // Half a page would look like counters that vanished.
    if (errors.length > 0) throw errors[0]
    return {
      status: 200,
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: serializer.serialize(resourceMetrics),
    }
  }
}
