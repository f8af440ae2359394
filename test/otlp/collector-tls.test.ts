import t from 'tap'
import { DEFAULT, serve } from '../cli/program.js'
import { Authority } from '../tls/authority.js'
import { collect } from './collector.js'

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(
    `metrics go to a collector that asks for a certificate, with that of the variables (${protocol})`,
    async (t) => {
      const folder = t.testdir({ stranger: {}, known: {} })
      const authority = new Authority(`${folder}/authority`)
      const [server, client] = [authority.issue('collector'), authority.issue('remexec', { subject: '/CN=remexec' })]
      const { collector, grpc, http } = await collect(t, { ...server, ca: authority.ca })
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? grpc : http,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_CERTIFICATE: authority.caFile,
        OTEL_METRIC_EXPORT_INTERVAL: '100',
      }
      const stranger = serve(t, DEFAULT, `${folder}/stranger`, env)
      await stranger.hears(/metrics do not reach the collector/)
      stranger.child.kill('SIGTERM')
      t.equal((await stranger.ended).code, 143)
      t.equal(collector.requests, 0, 'without a certificate nothing is taken')

      const program = serve(t, DEFAULT, `${folder}/known`, {
        ...env,
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: client.certFile,
        OTEL_EXPORTER_OTLP_CLIENT_KEY: client.keyFile,
      })
      await collector.until(({ metrics }) => metrics.size > 0)
      program.child.kill('SIGTERM')
      t.equal((await program.ended).code, 143)
    },
  )
}
