import { codeName } from '../base/status-error.js'
import { freshMs } from '../base/turn-clock.js'
import type { BoundedValues } from './bounded-values.js'
import { Distribution, type Instrument, LATENCY_SECONDS } from './instrument.js'

/** Durations of the calls of every method, by code. */
export class CallMetrics {
  readonly instrument: Instrument
  readonly #methods = new Map<string, MethodSeries>()
  readonly #instanceNames: BoundedValues | undefined

  /** With `instanceNames` each instance has series of its own. */
  constructor(instanceNames?: BoundedValues) {
    this.#instanceNames = instanceNames
    this.instrument = {
      name: 'svc_rpc_duration',
      description: 'Duration of calls, from their first byte to their end.',
      unit: 's',
      kind: 'histogram',
      series: () => this.all(),
    }
  }

  /** The series of a method by its path, `/package.Service/Method`; shared by all servers. */
  of(path: string): MethodSeries {
    const known = this.#methods.get(path)
    if (known !== undefined) return known
    const series = new MethodSeries(path, this.#instanceNames)
    this.#methods.set(path, series)
    return series
  }

  all(): readonly Distribution[] {
    return [...this.#methods.values()].flatMap((method) => method.all())
  }
}

/** A code gets a series with its first call, because most methods use few codes. */
class MethodSeries {
  readonly #byCode: (Distribution | undefined)[] = []
  readonly #byInstance = new Map<string, (Distribution | undefined)[]>()
  readonly #labels: { readonly rpc_service: string; readonly rpc_method: string }
  readonly #instanceNames: BoundedValues | undefined

  constructor(path: string, instanceNames: BoundedValues | undefined) {
    this.#instanceNames = instanceNames
    const [, rpc_service = '', rpc_method = ''] = path.split('/')
    this.#labels = { rpc_service, rpc_method }
  }

  ended(code: number, sinceMs: number, instanceName = ''): void {
    this.#of(code, instanceName).record((freshMs() - sinceMs) / 1000)
  }

  /** Calls of no instance, or of all instances together, that another thread has counted. */
  endedElsewhere(code: number, recorded: Pick<Distribution, 'counts' | 'count' | 'sum'>): void {
    this.#of(code, '').add(recorded)
  }

  #of(code: number, instanceName: string): Distribution {
    const instance_name = this.#instanceNames?.of(instanceName)
    const byCode = instance_name === undefined ? this.#byCode : this.#ofInstance(instance_name)
    let series = byCode[code]
    if (series === undefined) {
      const labels = {
        ...this.#labels,
        rpc_code: codeName(code),
        ...(instance_name !== undefined && { instance_name }),
      }
      series = new Distribution(labels, LATENCY_SECONDS)
      byCode[code] = series
    }
    return series
  }

  all(): readonly Distribution[] {
    return [this.#byCode, ...this.#byInstance.values()].flat().filter((series) => series !== undefined)
  }

  #ofInstance(name: string): (Distribution | undefined)[] {
    const known = this.#byInstance.get(name) ?? []
    if (known.length === 0) this.#byInstance.set(name, known)
    return known
  }
}
