import t from 'tap'
import { otlpSettings } from '../../src/otlp/settings.js'

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'

t.test('nothing is exported without an endpoint', async (t) => {
  const { settings, problems, warnings } = otlpSettings({ OTEL_METRIC_EXPORT_INTERVAL: '1000', PATH: '/bin' })
  t.same(settings, { metrics: undefined, traces: undefined, resourceAttributes: {} })
  t.same([problems, warnings], [[], []])
})

t.test('an endpoint is sufficient; its port selects the default protocol', async (t) => {
  const protocolOf = (url: string, more: object = {}) => otlpSettings({ [ENDPOINT]: url, ...more }).settings.metrics
  t.match(protocolOf('http://c:4317'), { protocol: 'grpc', intervalMs: 60_000, timeoutMs: 30_000 })
  t.equal(protocolOf('http://c:4318')?.protocol, 'http/protobuf')
  t.equal(protocolOf('https://c')?.protocol, 'http/protobuf')
  t.equal(protocolOf('http://c:4318', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })?.protocol, 'grpc')
  t.equal(protocolOf('http://c', { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc' })?.protocol, 'grpc')
  t.equal(protocolOf('http://c:4317', { OTEL_METRICS_EXPORTER: 'none' }), undefined)
  t.equal(protocolOf('http://c:4317', { OTEL_SDK_DISABLED: 'true' }), undefined)
})

t.test('TLS files of the signal take precedence over general ones', async (t) => {
  const all = { OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca', OTEL_EXPORTER_OTLP_CLIENT_KEY: ' ' }
  const own = { OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: '/own' }
  const { metrics, traces } = otlpSettings({
    ...{ [ENDPOINT]: 'https://c', OTEL_TRACES_EXPORTER: 'otlp' },
    ...all,
    ...own,
  }).settings
  t.same([...(metrics?.files ?? [])], [['OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE', '/own']])
  t.same([...(traces?.files ?? [])], [['OTEL_EXPORTER_OTLP_CERTIFICATE', '/ca']])
})

t.test('the server name must be a host name, and has an effect only with TLS', async (t) => {
  const read = (name: string, url = 'https://127.0.0.1:4317', more: object = {}) =>
    otlpSettings({ [ENDPOINT]: url, OTEL_TRACES_EXPORTER: 'otlp', REMEXEC_OTLP_SERVER_NAME: name, ...more })
  const { settings, problems, warnings } = read(' collector.example ')
  t.match([settings.metrics, settings.traces], Array(2).fill({ usesTls: true, serverName: 'collector.example' }))
  t.same([problems, warnings], [[], []])
  const long = `${'a'.repeat(60)}.`.repeat(5)
  for (const name of [
    '',
    ' ',
    'c:4317',
    'https://c',
    'two words',
    '127.0.0.1',
    '::1',
    '*.example',
    '-c',
    'c.',
    `${long}c`,
  ]) {
    const wrong = read(name)
    t.same([wrong.settings.metrics, wrong.settings.traces], [undefined, undefined], name)
    const expected = 'is no name of a host, expected one without a port: collector.example'
    t.same(wrong.problems, [
      `REMEXEC_OTLP_SERVER_NAME: ${JSON.stringify(name.trim())} ${expected}; metrics and traces are not exported`,
    ])
  }
  t.same(read('c', 'http://c:4317').warnings, [`REMEXEC_OTLP_SERVER_NAME has no effect: ${ENDPOINT} is without TLS`])
  t.match(read('c', undefined, { REMEXEC_OTLP_SERVERNAME: 'c' }).warnings, [
    /REMEXEC_OTLP_SERVERNAME has no effect here/,
  ])
})

t.test('a timeout is limited to the interval, with a warning', async (t) => {
  const env = { [ENDPOINT]: 'http://c:4317', OTEL_METRIC_EXPORT_INTERVAL: '1000' }
  t.match(otlpSettings(env), { settings: { metrics: { intervalMs: 1000, timeoutMs: 1000 } }, warnings: [] })
  const both = otlpSettings({ ...env, OTEL_METRIC_EXPORT_TIMEOUT: '2000' })
  t.equal(both.settings.metrics?.timeoutMs, 1000)
  t.match(both.warnings, [/OTEL_METRIC_EXPORT_TIMEOUT 2000 is longer/])
})

t.test('an invalid value is reported with its variable, and disables the parts that need it', async (t) => {
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
  const { settings, problems, warnings } = otlpSettings({
    ...{ [ENDPOINT]: 'http://c:4317', OTEL_LOGS_EXPORTER: 'otlp', OTEL_TRACES_EXPORTER: 'console' },
  })
  t.match(problems, [/^OTEL_TRACES_EXPORTER: "console" is not known here, .*; traces are not exported$/])
  t.same(warnings, ['OTEL_LOGS_EXPORTER otlp has no effect: logs go to standard error'])
  t.ok(settings.metrics, 'metrics are exported all the same')
  t.match(otlpSettings({ OTEL_RESOURCE_ATTRIBUTES: 'a' }).problems, [/^OTEL_RESOURCE_ATTRIBUTES: /])
  t.same(otlpSettings({ OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' }).problems, [])
})

t.test('the service name is fixed, and variables without effect are reported', async (t) => {
  const { settings, warnings } = otlpSettings({
    OTEL_SERVICE_NAME: 'cache',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=cache,k8s.cluster.name=a%2Cb',
    OTEL_PROPAGATORS: 'b3',
  })
  t.same(settings.resourceAttributes, { 'k8s.cluster.name': 'a,b' })
  t.match(warnings, [/service.name in OTEL_RESOURCE_ATTRIBUTES/, /OTEL_SERVICE_NAME/, /OTEL_PROPAGATORS has no effect/])
})

t.test('traces are exported only on request, to the configured collector', async (t) => {
  const traces = (env: object) => otlpSettings({ OTEL_TRACES_EXPORTER: 'otlp', ...env })
  t.equal(otlpSettings({ [ENDPOINT]: 'http://c:4317' }).settings.traces, undefined)
  t.equal(traces({ [ENDPOINT]: 'http://c:4317', OTEL_TRACES_EXPORTER: 'none' }).settings.traces, undefined)
  t.same(traces({ [ENDPOINT]: 'http://c:4317' }).settings.traces, {
    ...{ protocol: 'grpc', usesTls: false, timeoutMs: 10_000, files: new Map() },
  })
  t.same(
    traces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/v1/traces', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '5' })
      .settings,
    {
      traces: { protocol: 'http/protobuf', usesTls: false, timeoutMs: 5, files: new Map() },
      metrics: undefined,
      resourceAttributes: {},
    },
  )
  t.match(traces({}).problems, [/OTEL_TRACES_EXPORTER: .*no collector.*OTEL_EXPORTER_OTLP_ENDPOINT/])
  for (const [variable, value, expected] of [
    ['OTEL_TRACES_EXPORTER', 'zipkin', /expected otlp or none/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /expected always_on or parentbased_always_on/],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /"1.5" is no share, expected a number from 0 to 1/],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'thrift', /expected grpc or http\/protobuf/],
  ] as const) {
    const { settings, problems } = traces({ [ENDPOINT]: 'http://c:4317', [variable]: value })
    t.equal(settings.traces, undefined, variable)
    t.match(problems, [expected])
    t.not(settings.metrics, undefined, 'the metrics do not need it')
  }
})
