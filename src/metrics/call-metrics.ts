import { codeName } from '../base/status-error.js'
import { freshMs } from '../base/turn-clock.js'
import { Distribution, type Instrument, LATENCY_SECONDS } from './instrument.js'

/** Durations of the calls of every method, by code. */
export class CallMetrics {
  readonly instrument: Instrument
  readonly #methods = new Map<string, MethodSeries>()

  constructor() {
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
    const series = new MethodSeries(path)
    this.#methods.set(path, series)
    return series
  }

  all(): readonly Distribution[] {
    return [...this.#methods.values()].flatMap(({ byCode }) => byCode.filter((series) => series !== undefined))
  }
}

/** A code gets a series with its first call, because most methods use few codes. */
class MethodSeries {
  readonly byCode: (Distribution | undefined)[] = []
  readonly #labels: { readonly rpc_service: string; readonly rpc_method: string }

  constructor(path: string) {
    const [, rpc_service = '', rpc_method = ''] = path.split('/')
    this.#labels = { rpc_service, rpc_method }
  }

  ended(code: number, sinceMs: number): void {
    let series = this.byCode[code]
    if (series === undefined) {
      series = new Distribution({ ...this.#labels, rpc_code: codeName(code) }, LATENCY_SECONDS)
      this.byCode[code] = series
    }
    series.record((freshMs() - sinceMs) / 1000)
  }
}
