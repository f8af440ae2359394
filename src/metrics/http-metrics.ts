import { freshMs } from '../base/turn-clock.js'
import { Distribution, type Instrument, LATENCY_SECONDS } from './instrument.js'

/** Clients may send any method. */
const METHODS = new Set(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND', 'MKCOL'])

/** Durations of requests over HTTP other than gRPC, by route, method and status. */
export class HttpMetrics {
  readonly #instrument: Instrument
  readonly #routes = new Map<string, RouteSeries>()

  constructor() {
    this.#instrument = {
      name: 'svc_http_duration',
      description: 'Duration of HTTP requests other than gRPC, from their head to the end of the answer.',
      unit: 's',
      kind: 'histogram',
      series: () => this.all(),
    }
  }

  /** The series of a route by its path; shared by all servers. */
  of(route: string): RouteSeries {
    const known = this.#routes.get(route)
    if (known !== undefined) return known
    const series = new RouteSeries(route)
    this.#routes.set(route, series)
    return series
  }

  all(): readonly Distribution[] {
    return [...this.#routes.values()].flatMap((route) => route.all())
  }

  get instruments(): readonly Instrument[] {
    return this.#routes.size === 0 ? [] : [this.#instrument]
  }
}

class RouteSeries {
  readonly #route: string
  /** By method and status. */
  readonly #series = new Map<string, Map<number, Distribution>>()

  constructor(route: string) {
    this.#route = route
  }

  ended(method: string, status: number, sinceMs: number): void {
    const known = METHODS.has(method) ? method : 'other'
    const series = this.#series.get(known)?.get(status) ?? this.#begin(known, status)
    series.record((freshMs() - sinceMs) / 1000)
  }

  #begin(http_method: string, status: number): Distribution {
    const series = new Distribution(
      { http_route: this.#route, http_method, http_status: String(status) },
      LATENCY_SECONDS,
    )
    const ofMethod = this.#series.get(http_method) ?? new Map<number, Distribution>()
    this.#series.set(http_method, ofMethod.set(status, series))
    return series
  }

  all(): readonly Distribution[] {
    return [...this.#series.values()].flatMap((ofMethod) => [...ofMethod.values()])
  }
}
