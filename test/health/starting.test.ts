import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { DEFAULT, serve } from '../cli/program.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'

const HEALTH = 'grpc.health.v1.Health'

t.test('while a store opens slowly, health reports it and calls are asked to retry', async (t) => {
  const data = t.testdir()
  const index = `${data}/cas/content/index`
  mkdirSync(`${data}/cas/content`, { recursive: true })
  // A reader of a named pipe waits for its writer, like for a disk that does not respond.
  execFileSync('mkfifo', [index])
  const server = serve(t, DEFAULT, data, { REMEXEC_LOG_LEVEL: 'debug' })
  const [, address = ''] = await server.hears(/listening; .*server=public at=(\S+)/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const get = async (path: string) => {
    const answer = await fetch(`http://${address}${path}`)
    return { status: answer.status, text: await answer.text() }
  }
  const componentsOf = (text: string): Record<string, string> =>
    Object.fromEntries(
      JSON.parse(text).map((report: { component: string; status: object }) => [
        report.component,
        Object.keys(report.status)[0],
      ]),
    )

  const classesOf = (text: string): Record<string, string> =>
    Object.fromEntries(
      JSON.parse(text).map((report: { component: string; status: Record<string, { struct_name: string }> }) => [
        report.component,
        Object.values(report.status)[0]?.struct_name,
      ]),
    )

  const { status, text } = await get('/status')
  t.equal(status, 503, 'nothing has failed, but an action would wait for the worker')
  t.match(componentsOf(text), {
    'stores/CAS': 'Initializing',
    'scheduler/MAIN': 'Initializing',
    'workers/worker_0': 'Initializing',
  })
  t.equal((await get('/status/ready')).status, 503)
  t.equal((await get('/status/live')).status, 200)
  t.match((await get('/server')).text, /Initializing/)

  t.match(await client.unary(`${HEALTH}/Check`, { service: '' }).response, { status: 2 })
  t.match(await client.unary(`${HEALTH}/Check`, { service: CAS }).response, { status: 2 })
  const watch = client.serverStream(`${HEALTH}/Watch`, { service: CAS })
  watch.on('error', () => {})
  const states = watch[Symbol.asyncIterator]()
  t.equal((await states.next()).value.status, 2, 'NOT_SERVING')

  const ask = () => client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(blobOf('x').digest)] }).response
  const refusal = await ask().then(
    () => undefined,
    (error) => error,
  )
  t.match(refusal, { code: 14, details: 'the server is starting' })
  const { details } = codec('google.rpc.Status').decode(refusal.metadata.get('grpc-status-details-bin')[0])
  t.match(details, [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo' }])

  // Waits until the server opens the pipe.
  await (await open(index, 'w')).close()
  t.equal((await states.next()).value.status, 1, 'SERVING')
  t.equal((await get('/status')).status, 200)
  await server.hears(/serving grpc:\/\/\S+ server=public/)
  t.match(await ask(), { missingBlobDigests: [{ sizeBytes: 1 }] })
  t.equal((await get('/status/ready')).status, 200, 'every part that was expected has come')
  const healthy = (await get('/status')).text
  t.match(classesOf(healthy), classesOf(text), 'struct_name is the same while a component starts and afterwards')
  const now = JSON.parse(healthy).map(({ component }: { component: string }) => component)
  t.same(now, [...new Set(now)], 'each once')
})

t.test('a process that is asked to stop while a store opens exits and closes its listener', async (t) => {
  const data = t.testdir({ content: {} })
  execFileSync('mkfifo', [`${data}/content/index`])
  const config = {
    stores: [{ name: 'CAS', filesystem: { content_path: `${data}/content`, temp_path: `${data}/temp` } }],
    servers: [
      {
        name: 'public',
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], health: {} },
      },
    ],
    global: { drain_s: 300 },
  }
  writeFileSync(`${data}/config.json`, JSON.stringify(config))
  const server = serve(t, `${data}/config.json`, data, { REMEXEC_LOG_LEVEL: 'debug' })
  const [, address] = await server.hears(/listening; .*server=public at=(\S+)/)
  t.equal((await fetch(`http://${address}/status/live`)).status, 200)
  server.child.kill('SIGTERM')
  await server.hears(/stopping before the start is complete/)
  await (await open(`${data}/content/index`, 'w')).close()
  t.equal((await server.ended).code, 143)
})
