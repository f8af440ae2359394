import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { DEFAULT, serve } from '../cli/program.js'
import { TestClient } from '../server/client.js'

const get = async (session: ClientHttp2Session, path: string, method = 'GET') => {
  const stream = session.request({ ':path': path, ':method': method })
  const [headers] = await once(stream, 'response')
  return { status: headers[':status'], type: headers['content-type'], body: await text(stream) }
}

t.test('probes, gRPC health and the report over HTTP/2 show the same state', async (t) => {
  const data = t.testdir()
  const server = serve(t, DEFAULT, data)
  const [, address = ''] = await server.hears(/serving grpc:\/\/([^"\s]+)"?.*public/)
  const client = new TestClient(address)
  const session = connect(`http://${address}`)
  t.teardown(() => {
    client.close()
    session.destroy()
  })
  const probe = async (path: string) => (await fetch(`http://${address}${path}`)).status
  const served = client.serverStream('grpc.health.v1.Health/Watch', {})
  served.on('error', () => {})
  const states = served[Symbol.asyncIterator]()
  const state = async (): Promise<number> => (await states.next()).value.status
  if ((await state()) === 2) t.equal(await state(), 1, 'SERVING once the worker has connected')
  t.equal(await probe('/status'), 200)
  t.equal(await probe('/status/live'), 200)
  const answer = await get(session, '/status?from=probe')
  t.match(answer, { status: 200, type: /json/ })
  const components = JSON.parse(answer.body).map(({ component }: { component: string }) => component)
  for (const expected of ['stores/AC', 'stores/CAS', 'stores/CAS/fast', 'scheduler/MAIN', 'workers/worker_0']) {
    t.ok(components.includes(expected), `${expected} among ${components}`)
  }
  t.match(await get(session, '/status', 'POST'), { status: 405 })
  t.match(await get(session, '/status', 'HEAD'), { status: 200, body: '' })
  t.match(await get(session, '/elsewhere'), { status: 404 }, 'as over HTTP/1.1')
  t.match(await get(session, '/elsewhere', 'POST'), { status: 405 }, 'pages take no such form')
  t.match(await get(session, '/server'), { status: 200, type: /html/, body: /<title>Server - remexec/ })

  rmSync(`${data}/ac/temp`, { recursive: true })
  t.equal(await probe('/status'), 503)
  t.equal(await probe('/status/ready'), 503)
  t.equal(await state(), 2, 'NOT_SERVING')
  t.equal(await probe('/status/live'), 200)
  t.equal((await get(session, '/status')).status, 503)
  mkdirSync(`${data}/ac/temp`)
  t.equal(await probe('/status'), 200)
  t.equal(await probe('/status/ready'), 200)
  t.equal(await state(), 1, 'SERVING')
})
