import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { serve } from '../cli/program.js'

/** A machine that accepts connections and never responds. Returns its port. */
const silentMachine = async (t: Test): Promise<number> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

/** A port without a listener. */
const NOWHERE = '127.0.0.1:1'
const quick = { retry: { max_retries: 0 }, connection_timeout_ms: 200 }

const bucket = (address: string) => ({
  experimental_cloud_object_store: {
    ...{ provider: 'aws', region: 'us-east-1', bucket: 'blobs', endpoint: `http://${address}` },
    ...{ insecure_allow_http: true, retry: { max_retries: 0 } },
  },
})

const stores = (silent: string) => [
  { name: 'KEY_VALUE', redis_store: { addresses: [`redis://${NOWHERE}`], ...quick } },
  {
    name: 'DATABASE',
    experimental_mongo: { connection_string: `mongodb://${NOWHERE}`, connection_timeout_ms: 200 },
  },
  { name: 'OBJECTS', fast_slow: { fast: { memory: {} }, slow: bucket(NOWHERE) } },
  {
    name: 'OTHER_SERVER',
    grpc: { endpoints: [{ address: `grpc://${NOWHERE}` }], store_type: 'cas', retry: { max_retries: 0 } },
  },
  { name: 'SILENT', ...bucket(silent) },
]

interface Report {
  readonly namespace: string
  readonly component: string
  readonly status: Readonly<Record<string, Readonly<Record<string, string>>>>
}

t.test('a report names store, connection and reason for each kind of unreachable backend', async (t) => {
  const folder = t.testdir()
  const health = { path: '/healthz', timeout_seconds: 1 }
  const servers = [{ name: 'public', listener: { http: { socket_address: '127.0.0.1:0' } }, services: { health } }]
  writeFileSync(
    `${folder}/config.json`,
    JSON.stringify({ stores: stores(`127.0.0.1:${await silentMachine(t)}`), servers }),
  )
  const server = serve(t, `${folder}/config.json`, folder, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+)/)

  t.equal((await fetch(`http://${address}/status`)).status, 404, 'the path is another one')
  const answer = await fetch(`http://${address}/healthz`)
  t.equal(answer.status, 503)
  t.match(answer.headers.get('content-type'), /^application\/json/)
  const reports = (await answer.json()) as Report[]
  const refused = (component: string, message: string) =>
    t.match(
      reports.find((report) => report.component === component),
      { namespace: `/${component}`, status: { Failed: { struct_name: String, message, error: /^UNAVAILABLE: / } } },
    )
  for (const [store, backend] of [
    ['KEY_VALUE', NOWHERE],
    ['DATABASE', `MongoDB at ${NOWHERE}`],
    ['OBJECTS/slow', 'aws bucket blobs'],
    ['OTHER_SERVER', NOWHERE],
  ] as const) {
    refused(`connections/${store}/${backend}`, `no connection to ${backend}`)
    refused(`stores/${store}`, `no connection to ${backend}`)
  }
  refused('stores/OBJECTS', 'slow: no connection to aws bucket blobs')
  const others = reports.filter(({ status }) => !('Failed' in status))
  t.strictSame(
    others.map(({ component, status }) => [component, status]),
    [
      ['connections/SILENT/aws bucket blobs', { Timeout: { struct_name: 'S3Bucket' } }],
      ['stores/OBJECTS/fast', { Ok: { struct_name: 'MemoryStore', message: 'keeps 0 blobs of 0 B' } }],
      ['stores/SILENT', { Timeout: { struct_name: 'ObjectStore' } }],
    ],
    'what is silent is not waited for longer than a second',
  )
  t.equal(reports.length, 12, 'nothing else')
})
