export type Protocol = 'grpc' | 'http/protobuf'

export type Environment = Readonly<Record<string, string | undefined>>

/** What is sent where: what the exporters read from the environment themselves (headers, certificates) is not here. */
export interface OtlpSettings {
  readonly metrics: { readonly protocol: Protocol; readonly intervalMs: number; readonly timeoutMs: number } | undefined
  readonly resourceAttributes: Readonly<Record<string, string>>
}

export interface OtlpFindings {
  readonly settings: OtlpSettings
  /** Why what was asked for is not done: a sentence each, that names the variable. */
  readonly problems: readonly string[]
  /** What has no effect or another than one may think. */
  readonly warnings: readonly string[]
}

export const SERVICE_NAME = 'remexec'

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 30_000
/** What a timer takes. */
const MAX_MS = 2 ** 31 - 1

/** The ports that OTLP has of its own. */
const PORTS: Readonly<Record<string, Protocol>> = { '4317': 'grpc', '4318': 'http/protobuf' }

/**
 * Reads the OpenTelemetry variables. A value that makes no sense turns off what depends on it and is told: a cache serves
 * without its metrics rather than not at all.
 */
export const otlpSettings = (env: Environment): OtlpFindings => {
  const reader = new Reader(env)
  const metrics = metricsOf(reader)
  const resourceAttributes = attributesOf(reader)
  // Neither is sent anywhere: who asks for them is told so.
  for (const variable of ['OTEL_TRACES_EXPORTER', 'OTEL_LOGS_EXPORTER']) reader.oneOf(variable, ['none'], 'none')
  const name = env['OTEL_SERVICE_NAME']
  if (name !== undefined && name !== '' && name !== SERVICE_NAME) {
    reader.warnings.push(`OTEL_SERVICE_NAME has no effect: the service name is always ${SERVICE_NAME}`)
  }
  for (const variable of Object.keys(env).sort()) {
    if (variable.startsWith('OTEL_') && !KNOWN.test(variable)) reader.warnings.push(`${variable} has no effect here`)
  }
  return { settings: { metrics, resourceAttributes }, problems: reader.problems, warnings: reader.warnings }
}

const KNOWN = new RegExp(
  `^OTEL_(${[
    'EXPORTER_OTLP_(METRICS_)?(ENDPOINT|PROTOCOL|HEADERS|COMPRESSION|TIMEOUT|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE)',
    'SERVICE_NAME|RESOURCE_ATTRIBUTES|METRIC_EXPORT_(INTERVAL|TIMEOUT)',
    '(METRICS|TRACES|LOGS)_EXPORTER|SDK_DISABLED',
  ].join('|')})$`,
)

const metricsOf = (reader: Reader): OtlpSettings['metrics'] => {
  const exporter = reader.oneOf('OTEL_METRICS_EXPORTER', ['otlp', 'none'], 'otlp')
  const protocol = exporter === 'otlp' ? protocolOf(reader, 'METRICS') : undefined
  const intervalMs = reader.milliseconds('OTEL_METRIC_EXPORT_INTERVAL', INTERVAL_MS)
  const timeoutMs = reader.milliseconds('OTEL_METRIC_EXPORT_TIMEOUT', Math.min(TIMEOUT_MS, intervalMs ?? TIMEOUT_MS))
  if (protocol === undefined || intervalMs === undefined || timeoutMs === undefined) return undefined
  if (timeoutMs > intervalMs) {
    const limited = `OTEL_METRIC_EXPORT_TIMEOUT ${timeoutMs} is longer than OTEL_METRIC_EXPORT_INTERVAL`
    reader.warnings.push(`${limited}: ${intervalMs} is used`)
  }
  const requestMs = reader.milliseconds(reader.either('METRICS', 'TIMEOUT')[0], timeoutMs)
  if (requestMs === undefined) return undefined
  return { protocol, intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs, requestMs) }
}

/** Undefined where nothing is to be exported, or what is set does not allow it. */
const protocolOf = (reader: Reader, signal: 'METRICS'): Protocol | undefined => {
  if (reader.text('OTEL_SDK_DISABLED').toLowerCase() === 'true' || reader.isWithoutEndpoint(signal)) return undefined
  const endpoint = reader.endpoint(signal)
  const [, own] = reader.either(signal, 'PROTOCOL')
  const usual = PORTS[endpoint?.port ?? ''] ?? 'http/protobuf'
  const [variable] = reader.either(signal, 'PROTOCOL')
  const protocol = own === '' ? usual : reader.oneOf(variable, ['grpc', 'http/protobuf'] as const, usual)
  const compression = reader.oneOf(reader.either(signal, 'COMPRESSION')[0], ['none', 'gzip'], 'none')
  const areHeadersFine = reader.pairs(reader.either(signal, 'HEADERS')[0], HEADER_NAME) !== undefined
  return endpoint !== undefined && compression !== undefined && areHeadersFine ? protocol : undefined
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const ATTRIBUTE_NAME = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]+$/

const attributesOf = (reader: Reader): Readonly<Record<string, string>> => {
  const attributes = reader.pairs('OTEL_RESOURCE_ATTRIBUTES', ATTRIBUTE_NAME) ?? {}
  const { 'service.name': name, ...rest } = attributes
  if (name !== undefined && name !== SERVICE_NAME) {
    reader.warnings.push(`service.name in OTEL_RESOURCE_ATTRIBUTES has no effect: it is always ${SERVICE_NAME}`)
  }
  return rest
}

/** Looks values up and notes what is wrong with them. A value of one of the headers is never told. */
class Reader {
  readonly problems: string[] = []
  readonly warnings: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  text(variable: string): string {
    return this.#env[variable]?.trim() ?? ''
  }

  /** A variable of one signal wins over that of all. Answers its name and value. */
  either(signal: string, of: string): readonly [string, string] {
    const own = `OTEL_EXPORTER_OTLP_${signal}_${of}`
    const variable = this.text(own) === '' ? `OTEL_EXPORTER_OTLP_${of}` : own
    return [variable, this.text(variable)]
  }

  isWithoutEndpoint(signal: string): boolean {
    return this.either(signal, 'ENDPOINT')[1] === ''
  }

  endpoint(signal: string): URL | undefined {
    const [variable, text] = this.either(signal, 'ENDPOINT')
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '') return url
    return this.#wrong(variable, `${JSON.stringify(text)} is no address`, 'http://host:port or https://host:port')
  }

  /** Undefined when it is none of these, which is noted. */
  oneOf<Word extends string>(variable: string, words: readonly Word[], usual: Word): Word | undefined {
    const text = this.text(variable)
    if (text === '') return usual
    const word = words.find((known) => known === text.toLowerCase())
    return word ?? this.#wrong(variable, `${JSON.stringify(text)} is not known here`, words.join(' or '))
  }

  milliseconds(variable: string, usual: number): number | undefined {
    const text = this.text(variable)
    if (text === '') return usual
    const ms = /^\d{1,15}$/.test(text) ? Number(text) : 0
    if (ms >= 1 && ms <= MAX_MS) return ms
    return this.#wrong(variable, `${JSON.stringify(text)} is no time`, `milliseconds, 1 to ${MAX_MS}`)
  }

  pairs(variable: string, name: RegExp): Readonly<Record<string, string>> | undefined {
    const pairs: Record<string, string> = {}
    for (const pair of this.text(variable).split(',')) {
      if (pair.trim() === '') continue
      const at = pair.indexOf('=')
      const key = decoded(pair.slice(0, Math.max(0, at)))
      const value = decoded(pair.slice(at + 1))
      if (at < 0 || key === undefined || value === undefined || !name.test(key)) {
        return this.#wrong(variable, 'one of its parts is not understood', 'name=value, separated by commas')
      }
      pairs[key] = value
    }
    return pairs
  }

  #wrong(variable: string, found: string, expected: string): undefined {
    const problem = `${variable}: ${found}, expected ${expected}`
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
