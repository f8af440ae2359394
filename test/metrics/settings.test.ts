import t from 'tap'
import { otlpSettings } from '../../src/metrics/otlp/settings.js'

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'

t.test('nothing is exported without an endpoint', async (t) => {
  const { settings, problems, warnings } = otlpSettings({ OTEL_METRIC_EXPORT_INTERVAL: '1000', PATH: '/bin' })
  t.same(settings, { metrics: undefined, resourceAttributes: {} })
  t.same([problems, warnings], [[], []])
})

t.test('an endpoint is enough; its port says the protocol unless that is said', async (t) => {
  const protocolOf = (url: string, more: object = {}) => otlpSettings({ [ENDPOINT]: url, ...more }).settings.metrics
  t.same(protocolOf('http://c:4317'), { protocol: 'grpc', intervalMs: 60_000, timeoutMs: 30_000 })
  t.equal(protocolOf('http://c:4318')?.protocol, 'http/protobuf')
  t.equal(protocolOf('https://c')?.protocol, 'http/protobuf')
  t.equal(protocolOf('http://c:4318', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })?.protocol, 'grpc')
  t.equal(protocolOf('http://c', { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc' })?.protocol, 'grpc')
  t.equal(protocolOf('http://c:4317', { OTEL_METRICS_EXPORTER: 'none' }), undefined)
  t.equal(protocolOf('http://c:4317', { OTEL_SDK_DISABLED: 'true' }), undefined)
})

t.test('a timeout is never longer than the interval, and who asked for that is told', async (t) => {
  const env = { [ENDPOINT]: 'http://c:4317', OTEL_METRIC_EXPORT_INTERVAL: '1000' }
  t.match(otlpSettings(env), { settings: { metrics: { intervalMs: 1000, timeoutMs: 1000 } }, warnings: [] })
  const both = otlpSettings({ ...env, OTEL_METRIC_EXPORT_TIMEOUT: '2000' })
  t.equal(both.settings.metrics?.timeoutMs, 1000)
  t.match(both.warnings, [/OTEL_METRIC_EXPORT_TIMEOUT 2000 is longer/])
})

t.test(
  'what cannot be understood is told by its variable and what was expected, and turns off what needs it',
  async (t) => {
    const bad: readonly (readonly [string, string, RegExp])[] = [
      [ENDPOINT, 'collector:4317', /"collector:4317" is no address, expected http:\/\/host:port/],
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', /"http\/json" is not known here, expected grpc or http\/protobuf/],
      ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', /expected none or gzip/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'Authorization: Bearer x', /expected name=value/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', /expected name=value/],
      ['OTEL_METRIC_EXPORT_INTERVAL', '10s', /"10s" is no time, expected milliseconds/],
      ['OTEL_METRIC_EXPORT_INTERVAL', '0', /"0" is no time/],
      ['OTEL_METRIC_EXPORT_TIMEOUT', '-1', /"-1" is no time/],
      ['OTEL_METRICS_EXPORTER', 'prometheus', /expected otlp or none/],
    ]
    for (const [variable, value, expected] of bad) {
      const { settings, problems } = otlpSettings({ [ENDPOINT]: 'http://c:4317', [variable]: value })
      t.equal(settings.metrics, undefined, variable)
      t.equal(problems.length, 1, variable)
      t.ok(problems[0]?.startsWith(`${variable}: `), variable)
      t.match(problems[0], expected)
      t.notMatch(problems[0], /Bearer/)
    }
    const { problems } = otlpSettings({ OTEL_RESOURCE_ATTRIBUTES: 'a', OTEL_LOGS_EXPORTER: 'otlp' })
    t.match(problems, [/OTEL_RESOURCE_ATTRIBUTES/, /OTEL_LOGS_EXPORTER.*expected none/])
    t.match(otlpSettings({ OTEL_TRACES_EXPORTER: 'otlp' }).problems, [/OTEL_TRACES_EXPORTER.*expected none/])
    t.same(otlpSettings({ OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' }).problems, [])
  },
)

t.test('the name of the service is fixed, and variables that have no effect are named', async (t) => {
  const { settings, warnings } = otlpSettings({
    OTEL_SERVICE_NAME: 'cache',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=cache,k8s.cluster.name=a%2Cb',
    OTEL_PROPAGATORS: 'b3',
  })
  t.same(settings.resourceAttributes, { 'k8s.cluster.name': 'a,b' })
  t.match(warnings, [/service.name in OTEL_RESOURCE_ATTRIBUTES/, /OTEL_SERVICE_NAME/, /OTEL_PROPAGATORS has no effect/])
})
