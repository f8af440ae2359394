import { type Environment, Variables } from './variables.js'

export type Protocol = 'grpc' | 'http/protobuf'

/** TLS files by the variables that name them. */
export type TlsVariables = ReadonlyMap<string, string>

/** How to reach a collector. The exporters read further variables themselves. */
export interface Destination {
  readonly protocol: Protocol
  readonly timeoutMs: number
  readonly usesTls: boolean
  readonly files: TlsVariables
  /** Host name that the collector's certificate must have. Absent: the host of the address. */
  readonly serverName?: string
}

/**
 * What is exported, and where. Address and headers are missing here, because the exporters read them from the
 * environment.
 */
export interface OtlpSettings {
  readonly metrics: (Destination & { readonly intervalMs: number }) | undefined
  /** The SDK's sampler reads its own variables, which are checked here. */
  readonly traces: Destination | undefined
  readonly resourceAttributes: Readonly<Record<string, string>>
}

export interface OtlpFindings {
  readonly settings: OtlpSettings
  /** Why a requested export is off: one sentence each, which names the variable. */
  readonly problems: readonly string[]
  /** Settings without effect, or with an unexpected one. */
  readonly warnings: readonly string[]
}

export const SERVICE_NAME = 'remexec'

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 30_000
const TRACES_TIMEOUT_MS = 10_000

/** The default ports of OTLP. */
const PORTS: Readonly<Record<string, Protocol>> = { '4317': 'grpc', '4318': 'http/protobuf' }

/**
 * Reads the OpenTelemetry variables. An invalid value turns off what depends on it and is reported: a cache
 * without metrics is better than no cache.
 */
export const otlpSettings = (env: Environment): OtlpFindings => {
  const variables = new Variables(env)
  const metrics = metricsOf(variables)
  const traces = tracesOf(variables)
  const resourceAttributes = attributesOf(variables)
  const logs = variables.text('OTEL_LOGS_EXPORTER')
  if (logs !== '' && logs.toLowerCase() !== 'none')
    variables.warn(`OTEL_LOGS_EXPORTER ${logs} has no effect: logs go to standard error`)
  const name = env['OTEL_SERVICE_NAME']
  if (name !== undefined && name !== '' && name !== SERVICE_NAME) {
    variables.warn(`OTEL_SERVICE_NAME has no effect: the service name is always ${SERVICE_NAME}`)
  }
  for (const variable of Object.keys(env).sort()) {
    if (OURS.test(variable) && !KNOWN.test(variable)) variables.warn(`${variable} has no effect here`)
  }
  return {
    settings: { metrics, traces, resourceAttributes },
    problems: variables.problems,
    warnings: variables.warnings,
  }
}

/** OpenTelemetry defines no variable for this. */
const SERVER_NAME = 'REMEXEC_OTLP_SERVER_NAME'

const OURS = /^(OTEL|REMEXEC_OTLP)_/
const KNOWN = new RegExp(
  `^(${SERVER_NAME}|OTEL_(${[
    'EXPORTER_OTLP_((METRICS|TRACES)_)?(ENDPOINT|PROTOCOL|HEADERS|COMPRESSION|TIMEOUT|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE)',
    'SERVICE_NAME|RESOURCE_ATTRIBUTES|METRIC_EXPORT_(INTERVAL|TIMEOUT)',
    '(METRICS|TRACES|LOGS)_EXPORTER|SDK_DISABLED|TRACES_SAMPLER(_ARG)?',
    'BSP_(SCHEDULE_DELAY|EXPORT_TIMEOUT|MAX_QUEUE_SIZE|MAX_EXPORT_BATCH_SIZE)',
    '(SPAN_)?ATTRIBUTE_(VALUE_LENGTH|COUNT)_LIMIT',
  ].join('|')}))$`,
)

const metricsOf = (variables: Variables): OtlpSettings['metrics'] => {
  const exporter = variables.oneOf('OTEL_METRICS_EXPORTER', ['otlp', 'none'], 'otlp')
  const way = exporter === 'otlp' ? wayOf(variables, 'METRICS') : undefined
  const intervalMs = variables.milliseconds('OTEL_METRIC_EXPORT_INTERVAL', INTERVAL_MS)
  const timeoutMs = variables.milliseconds('OTEL_METRIC_EXPORT_TIMEOUT', Math.min(TIMEOUT_MS, intervalMs ?? TIMEOUT_MS))
  if (way === undefined || intervalMs === undefined || timeoutMs === undefined) return undefined
  if (timeoutMs > intervalMs) {
    const limited = `OTEL_METRIC_EXPORT_TIMEOUT ${timeoutMs} is longer than OTEL_METRIC_EXPORT_INTERVAL`
    variables.warn(`${limited}: ${intervalMs} is used`)
  }
  const requestMs = variables.milliseconds(variables.either('METRICS', 'TIMEOUT')[0], timeoutMs)
  if (requestMs === undefined) return undefined
  return { ...way, intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs, requestMs) }
}

/** Off by default, because a span for each call and store is expensive if the operator wanted only metrics. */
const tracesOf = (variables: Variables): OtlpSettings['traces'] => {
  const exporter = variables.oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'none')
  if (exporter !== 'otlp') return undefined
  if (variables.isWithoutEndpoint('TRACES')) {
    const [endpoint] = variables.either('TRACES', 'ENDPOINT')
    return variables.wrong('OTEL_TRACES_EXPORTER', 'there is no collector to send to', `one in ${endpoint}`)
  }
  const way = wayOf(variables, 'TRACES')
  const timeoutMs = variables.milliseconds(variables.either('TRACES', 'TIMEOUT')[0], TRACES_TIMEOUT_MS)
  const sampler = variables.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on')
  const isRatioFine = variables.share('OTEL_TRACES_SAMPLER_ARG', 1) !== undefined
  const isComplete = way !== undefined && timeoutMs !== undefined && sampler !== undefined && isRatioFine
  return isComplete ? { ...way, timeoutMs } : undefined
}

type Signal = 'METRICS' | 'TRACES'

const filesOf = (variables: Variables, signal: Signal): TlsVariables =>
  new Map(
    ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY']
      .map((of) => variables.either(signal, of))
      .filter(([, path]) => path !== ''),
  )

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])

/** Undefined if nothing is exported or the settings are invalid. */
const wayOf = (variables: Variables, signal: Signal): Omit<Destination, 'timeoutMs'> | undefined => {
  if (variables.text('OTEL_SDK_DISABLED').toLowerCase() === 'true' || variables.isWithoutEndpoint(signal))
    return undefined
  const endpoint = variables.endpoint(signal)
  const usual = PORTS[endpoint?.port ?? ''] ?? 'http/protobuf'
  const [variable, specific] = variables.either(signal, 'PROTOCOL')
  const protocol = specific === '' ? usual : variables.oneOf(variable, ['grpc', 'http/protobuf'] as const, usual)
  const compression = variables.oneOf(variables.either(signal, 'COMPRESSION')[0], ['none', 'gzip'], 'none')
  const areHeadersFine = variables.pairs(variables.either(signal, 'HEADERS')[0], HEADER_NAME) !== undefined
  const serverName = variables.hostName(SERVER_NAME)
  const isComplete = protocol !== undefined && compression !== undefined && areHeadersFine
  if (!isComplete || endpoint === undefined || serverName === undefined) return undefined
  const usesTls = endpoint.protocol === 'https:'
  const isVain = serverName !== '' && !usesTls
  if (isVain) variables.warn(`${SERVER_NAME} has no effect: ${variables.either(signal, 'ENDPOINT')[0]} is without TLS`)
  return { protocol, usesTls, files: filesOf(variables, signal), ...(serverName !== '' && { serverName }) }
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const ATTRIBUTE_NAME = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]+$/

const attributesOf = (variables: Variables): Readonly<Record<string, string>> => {
  const attributes = variables.pairs('OTEL_RESOURCE_ATTRIBUTES', ATTRIBUTE_NAME) ?? {}
  const { 'service.name': name, ...rest } = attributes
  if (name !== undefined && name !== SERVICE_NAME) {
    variables.warn(`service.name in OTEL_RESOURCE_ATTRIBUTES has no effect: it is always ${SERVICE_NAME}`)
  }
  return rest
}
