import { mkdirSync, rmSync } from 'node:fs'
import t from 'tap'
import { DEFAULT, serve } from './program.js'

t.test('a component that changes state is told once in the log, whether or not anybody asks for /status', async (t) => {
  const data = t.testdir()
  const server = serve(t, DEFAULT, data)
  const [, address] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const status = async (): Promise<number> => (await fetch(`http://${address}/status`)).status
  rmSync(`${data}/ac/temp`, { recursive: true })
  await server.hears(/a component does not work component=stores\/AC state=Failed .*its folder is gone/)
  for (let asked = 0; asked < 3; asked++) t.equal(await status(), 503)
  mkdirSync(`${data}/ac/temp`)
  for (let asked = 0; asked < 3; asked++) t.equal(await status(), 200)
  await server.hears(/a component works again component=stores\/AC/)
  server.child.kill('SIGTERM')
  await server.ended
  t.equal(server.said().match(/component=stores\/AC/g)?.length, 2, 'once each')
})

t.test('variables for metrics that are not there yet are named in one line', async (t) => {
  const env = { OTEL_SERVICE_NAME: 'cache', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317' }
  const server = serve(t, DEFAULT, t.testdir(), env)
  await server.hears(/serving grpc:/)
  const lines = server
    .said()
    .split('\n')
    .filter((line) => line.includes('OTEL_'))
  t.equal(lines.length, 1)
  t.match(lines[0], /warn .*no effect.*OTEL_EXPORTER_OTLP_ENDPOINT.*OTEL_SERVICE_NAME/)
  const other = serve(t, DEFAULT, `${t.testdir()}`, {})
  await other.hears(/serving grpc:/)
  t.notMatch(other.said(), /OTEL/)
})
