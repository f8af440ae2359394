import t from 'tap'
import { DEFAULT, serve } from '../cli/program.js'
import { Authority } from '../tls/authority.js'
import { collect } from './collector.js'

// For changes in: src/otlp, src/tls

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(`metrics reach a collector that requires a client certificate (${protocol})`, async (t) => {
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
  })

  t.test(`a collector is verified against REMEXEC_OTLP_SERVER_NAME (${protocol})`, async (t) => {
    const folder = t.testdir({ stranger: {}, known: {} })
    const authority = new Authority(`${folder}/authority`)
    const own = authority.issue('collector', { alternativeNames: 'DNS:collector.example' })
    const { collector, grpc, http } = await collect(t, { ...own, ca: authority.ca })
    const client = authority.issue('remexec')
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? grpc : http,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_CERTIFICATE: authority.caFile,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: client.certFile,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: client.keyFile,
      OTEL_METRIC_EXPORT_INTERVAL: '100',
    }
    for (const more of [{}, { REMEXEC_OTLP_SERVER_NAME: 'other.example' }]) {
      const stranger = serve(t, DEFAULT, `${folder}/stranger`, { ...env, ...more })
      await stranger.hears(/metrics do not reach the collector/)
      stranger.child.kill('SIGTERM')
      t.equal((await stranger.ended).code, 143)
    }
    t.equal(collector.requests, 0, 'the certificate is for neither')
    collector.serverNames.clear()

    const name = 'collector.example'
    const program = serve(t, DEFAULT, `${folder}/known`, { ...env, REMEXEC_OTLP_SERVER_NAME: name })
    await collector.until(({ metrics }) => metrics.size > 0)
    program.child.kill('SIGTERM')
    t.equal((await program.ended).code, 143)
    t.same([...collector.serverNames], [name])
  })

  t.test(`no collector is trusted while the authority file is invalid (${protocol})`, async (t) => {
    const folder = t.testdir({ stranger: {}, known: {}, 'ca.pem': 'no certificate' })
    const authority = new Authority(`${folder}/authority`)
    const { collector, grpc, http } = await collect(t, authority.issue('collector'))
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? grpc : http,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_METRIC_EXPORT_INTERVAL: '100',
      NODE_EXTRA_CA_CERTS: authority.caFile,
    }
    const wary = serve(t, DEFAULT, `${folder}/stranger`, { ...env, OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/ca.pem` })
    await wary.hears(/the files for the collector of metrics cannot be used: OTEL_EXPORTER_OTLP_CERTIFICATE/)
    await wary.hears(/metrics do not reach the collector/)
    wary.child.kill('SIGTERM')
    t.equal((await wary.ended).code, 143)
    t.equal(collector.requests, 0)

    const program = serve(t, DEFAULT, `${folder}/known`, env)
    await collector.until(({ metrics }) => metrics.size > 0)
    program.child.kill('SIGTERM')
    t.equal((await program.ended).code, 143)
  })
}
