import { codeName } from '../base/status-error.js'
import { freshMs } from '../base/turn-clock.js'
import { Distribution, type Instrument, LATENCY_SECONDS } from './instrument.js'

/** The calls of every method, by code. */
export class CallMetrics {
  readonly instrument: Instrument
  readonly #methods = new Map<string, MethodSeries>()

  constructor() {
    this.instrument = {
      name: 'svc_rpc_duration',
      description: 'How long calls took, from their first byte to their end.',
      unit: 's',
      kind: 'histogram',
      series: () => this.all(),
    }
  }

  /** What counts the calls of a method, by its path, `/package.Service/Method`; servers share it. */
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

/** Only codes that the method has ended with have a series: most never end with most codes. */
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
