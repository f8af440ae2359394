import { ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Instrument } from '../metrics/instrument.js'
import type { Metrics } from '../metrics/metrics.js'
import { SERVICE_NAME } from './settings.js'

type HrTime = [number, number]

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)]

/** Supplies the metrics to the SDK as an external producer. Values are cumulative since the start. */
export class Readings implements MetricProducer {
  readonly #metrics: Metrics
  readonly #resource: Resource
  readonly #now: () => number

  constructor(metrics: Metrics, resource: Resource, now: () => number) {
    this.#metrics = metrics
    this.#resource = resource
    this.#now = now
  }

  async collect(): Promise<CollectionResult> {
    const errors: unknown[] = []
    const metrics: MetricData[] = []
    const times = { startTime: hrTime(this.#metrics.startedMs), endTime: hrTime(this.#now()) }
    for (const instrument of this.#metrics.instruments) {
      try {
        metrics.push(dataOf(instrument, times))
      } catch (error) {
        errors.push(error)
      }
    }
    return {
      resourceMetrics: { resource: this.#resource, scopeMetrics: [{ scope: { name: SERVICE_NAME }, metrics }] },
      errors,
    }
  }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

const dataOf = (instrument: Instrument, times: Times): MetricData => {
  const { name, description, unit } = instrument
  const base = {
    descriptor: { name, description, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (instrument.kind === 'histogram') {
    const dataPoints = [...instrument.series()].map(({ labels, boundaries, counts, count, sum }) => ({
      ...times,
      attributes: labels,
      value: { buckets: { boundaries: [...boundaries], counts: [...counts] }, count, sum },
    }))
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = [...instrument.series()].map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  if (instrument.kind === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
  return { ...base, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true }
}
