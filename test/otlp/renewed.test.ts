import { chmodSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { RELOAD_PERIOD_MS } from '../../src/files/reloaded-files.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { startMetricExport } from '../../src/otlp/metric-export.js'
import { otlpSettings } from '../../src/otlp/settings.js'
import { startTraceExport } from '../../src/otlp/trace-export.js'
import { Authority, type Issued } from '../tls/authority.js'
import { Lines } from '../tls/lines.js'
import { collect } from './collector.js'

const NAMES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'] as const

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(`a replaced client certificate is used from then on (${protocol})`, async (t) => {
    const folder = t.testdir({ own: {} })
    const authority = new Authority(`${folder}/authority`)
    const own = authority.issue('collector', { alternativeNames: 'DNS:collector.example' })
    const { collector, grpc, http } = await collect(t, { ...own, ca: authority.ca })
    const [certFile, keyFile] = [`${folder}/own/cert.pem`, `${folder}/own/key.pem`]
    const place = ({ cert, key }: Issued): void => {
      writeFileSync(keyFile, key)
      writeFileSync(certFile, cert)
    }
    place(authority.issue('old', { subject: '/CN=old' }))
    chmodSync(keyFile, 0o644)
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? grpc : http,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_METRIC_EXPORT_INTERVAL: '200',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      REMEXEC_OTLP_SERVER_NAME: 'collector.example',
      ...Object.fromEntries(
        NAMES.map((name, at) => [`OTEL_EXPORTER_OTLP_${name}`, [authority.caFile, certFile, keyFile][at]]),
      ),
    }
    // The exporters read the variables from the environment.
    Object.assign(process.env, env)
    const { settings, problems } = otlpSettings(env)
    t.same(problems, [])
    if (settings.traces === undefined) throw new Error('no traces')
    const clock = new ManualClock(Date.now())
    const said = new Lines()
    const parts = { settings, version: '0', clock, log: said.log }
    const metrics = new Metrics({ labelsActionDigests: false }, clock.now())
    const stopMetrics = await startMetricExport(metrics, parts)
    const { tracer, stop: stopTraces } = await startTraceExport(settings.traces, {}, parts)
    t.teardown(async () => {
      metrics.stop()
      await Promise.all([stopMetrics(), stopTraces()])
    })
    t.match(said.text, /warn.*every user of this machine can read OTEL_EXPORTER_OTLP_CLIENT_KEY: chmod o-r/)
    const sends = async (name: string): Promise<void> => {
      tracer.begin(name, {})?.end()
      await collector.until(({ spans }) => spans.some((span) => span.name === name))
    }
    await Promise.all([sends('first'), collector.until(({ metrics: got }) => got.size > 0)])
    t.same([...collector.clients], ['old'])
    t.same([...collector.serverNames], ['collector.example'], 'of metrics and traces')

    writeFileSync(certFile, 'no certificate')
    clock.advance(RELOAD_PERIOD_MS)
    for (const what of ['metrics', 'traces']) {
      await said.hears(new RegExp(`error.*certificates for the collector of ${what} have changed and cannot be used`))
    }
    await sends('with the one before')

    place(authority.issue('new', { subject: '/CN=new' }))
    clock.advance(RELOAD_PERIOD_MS)
    for (const what of ['metrics', 'traces']) {
      await said.hears(new RegExp(`certificates for the collector of ${what} were read again`))
    }
    await sends('last')
    collector.clients.clear()
    const { requests } = collector
    await sends('very last')
    await collector.until((one) => one.requests > requests + 2)
    t.same([...collector.clients], ['new'])
    t.same([...collector.serverNames], ['collector.example'])
  })
}

t.test('invalid TLS files are logged and do not prevent the start', async (t) => {
  const env = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_CLIENT_KEY: '/absent' },
    OTEL_METRIC_EXPORT_TIMEOUT: '100',
  }
  const { settings } = otlpSettings(env)
  const clock = new ManualClock()
  const said = new Lines()
  const metrics = new Metrics({ labelsActionDigests: false }, 0)
  const stop = await startMetricExport(metrics, { settings, version: '0', clock, log: said.log })
  metrics.stop()
  await stop()
  t.match(
    said.text,
    /warn.*the files for the collector of metrics cannot be used: OTEL_EXPORTER_OTLP_CLIENT_KEY: .*\/absent/,
  )
})
