import { isIP } from 'node:net'

export type Environment = Readonly<Record<string, string | undefined>>

/** The maximum delay of a timer. */
const MAX_MS = 2 ** 31 - 1

const HOST_NAME = /^[a-z\d_]([\w-]{0,61}[a-z\d_])?(\.[a-z\d_]([\w-]{0,61}[a-z\d_])?)*$/i
const MAX_HOST_NAME_LENGTH = 253

/**
 * Reads variables and collects their problems. Values of headers are never reported, because they may be
 * secret.
 */
export class Variables {
  readonly problems: string[] = []
  readonly warnings: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  text(variable: string): string {
    return this.#env[variable]?.trim() ?? ''
  }

  /** The variable of one signal takes precedence over the general one. Returns its name and value. */
  either(signal: string, of: string): readonly [string, string] {
    const specific = `OTEL_EXPORTER_OTLP_${signal}_${of}`
    const variable = this.text(specific) === '' ? `OTEL_EXPORTER_OTLP_${of}` : specific
    return [variable, this.text(variable)]
  }

  isWithoutEndpoint(signal: string): boolean {
    return this.either(signal, 'ENDPOINT')[1] === ''
  }

  endpoint(signal: string): URL | undefined {
    const [variable, text] = this.either(signal, 'ENDPOINT')
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '') return url
    return this.wrong(variable, `${JSON.stringify(text)} is no address`, 'http://host:port or https://host:port')
  }

  /** Undefined for another value, which is recorded as a problem. */
  oneOf<Word extends string>(variable: string, words: readonly Word[], usual: Word): Word | undefined {
    const text = this.text(variable)
    if (text === '') return usual
    const word = words.find((known) => known === text.toLowerCase())
    return word ?? this.wrong(variable, `${JSON.stringify(text)} is not known here`, words.join(' or '))
  }

  milliseconds(variable: string, usual: number): number | undefined {
    const text = this.text(variable)
    if (text === '') return usual
    const ms = /^\d{1,15}$/.test(text) ? Number(text) : 0
    if (ms >= 1 && ms <= MAX_MS) return ms
    return this.wrong(variable, `${JSON.stringify(text)} is no time`, `milliseconds, 1 to ${MAX_MS}`)
  }

  share(variable: string, usual: number): number | undefined {
    const text = this.text(variable)
    if (text === '') return usual
    const share = /^\d*\.?\d+$/.test(text) ? Number(text) : 2
    return share <= 1 ? share : this.wrong(variable, `${JSON.stringify(text)} is no share`, 'a number from 0 to 1')
  }

  pairs(variable: string, name: RegExp): Readonly<Record<string, string>> | undefined {
    const pairs: Record<string, string> = {}
    for (const pair of this.text(variable).split(',')) {
      if (pair.trim() === '') continue
      const at = pair.indexOf('=')
      const key = decoded(pair.slice(0, Math.max(0, at)))
      const value = decoded(pair.slice(at + 1))
      if (at < 0 || key === undefined || value === undefined || !name.test(key)) {
        return this.wrong(variable, 'one of its parts is not understood', 'name=value, separated by commas')
      }
      pairs[key] = value
    }
    return pairs
  }

  /** Empty if the variable is unset. */
  hostName(variable: string): string | undefined {
    if (this.#env[variable] === undefined) return ''
    const text = this.text(variable)
    if (isIP(text) === 0 && text.length <= MAX_HOST_NAME_LENGTH && HOST_NAME.test(text)) return text
    return this.wrong(variable, `${JSON.stringify(text)} is no name of a host`, 'one without a port: collector.example')
  }

  warn(warning: string): void {
    if (!this.warnings.includes(warning)) this.warnings.push(warning)
  }

  /** Records a problem and returns undefined. */
  wrong(variable: string, found: string, expected: string): undefined {
    const problem = `${variable}: ${found}, expected ${expected}; ${signalsOf(variable)} not exported`
    if (!this.problems.includes(problem)) this.problems.push(problem)
    return undefined
  }
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    return undefined
  }
}

/** What a variable that cannot be used keeps from being exported. */
const signalsOf = (variable: string): string => {
  if (/METRIC/.test(variable)) return 'metrics are'
  return /TRACE|BSP|SPAN/.test(variable) ? 'traces are' : 'metrics and traces are'
}
