import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Metrics } from '../metrics/metrics.js'
import { Readings } from './readings.js'

export interface PageAnswer {
  readonly status: 200
  readonly contentType: string
  readonly body: string | Readable
  readonly headers: Readonly<Record<string, string>>
}

interface PageRequest {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
}

export interface PageParts {
  readonly metrics: Metrics
  /** Those of OTEL_RESOURCE_ATTRIBUTES. */
  readonly attributes: Readonly<Record<string, string>>
  readonly now: () => number
}

/** Becomes a label of every series, as the collector's configuration does: it tells the parts of a fleet apart. */
const LABEL = /^svc\.instance_name$/

/** Without a weight of 0. */
const TAKES_GZIP = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i

/**
 * The page that Prometheus reads, always as text 0.0.4, because the serializer has no OpenMetrics: the same names and labels as by OTLP. Prometheus adds `job` and
 * `instance`.
 */
export const prometheusPage = ({
  metrics,
  attributes,
  now,
}: PageParts): ((request: PageRequest) => Promise<PageAnswer>) => {
  const serializer = new PrometheusSerializer('', false, LABEL, true, true)
  const readings = new Readings(metrics, resourceFromAttributes(attributes), now)
  return async ({ headers }) => {
    const { resourceMetrics, errors } = await readings.collect()
    // Half a page would look like counters that vanished.
    if (errors.length > 0) throw errors[0]
    const text = serializer.serialize(resourceMetrics)
    const head = { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8' } as const
    const vary = { vary: 'accept-encoding' }
    if (!TAKES_GZIP.test(headers.get('accept-encoding') ?? '')) return { ...head, body: text, headers: vary }
    const body = Readable.from([await promisify(gzip)(text)])
    return { ...head, body, headers: { ...vary, 'content-encoding': 'gzip' } }
  }
}
