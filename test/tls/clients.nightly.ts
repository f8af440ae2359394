import { chmodSync, writeFileSync } from 'node:fs'
import { credentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock, systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { RELOAD_PERIOD_MS } from '../../src/files/reloaded-files.js'
import { TestClient } from '../server/client.js'
import { OPERATIONS } from '../service/execution-harness.js'
import { blobOf, CAS, failure, wire } from '../service/harness.js'
import { Authority, type Issued } from './authority.js'
import { Lines } from './lines.js'

// For changes in: src/tls, src/store/kinds/grpc, src/scheduler/grpc, src/worker/connection.ts

const start = async (t: Test, configuration: object) => {
  const { config, problems } = parseConfig(JSON.stringify(configuration), 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const said = new Lines()
  const running = await assemble(config, { clock: systemClock, log: said.log })
  t.teardown(() => running.close())
  return { said, port: Number(running.addresses[0]?.address.split(':').at(-1)) }
}

const memory = { memory: { eviction_policy: { max_bytes: '10mb' } } }
const services = {
  cas: [{ instance_name: 'main', cas_store: 'CAS' }],
  ac: [{ instance_name: 'main', ac_store: 'AC' }],
}

/**
 * A cache with a scheduler that requires client certificates. Its own certificate has another name than its
 * address.
 */
const startCache = async (t: Test, folder: string) => {
  const authority = new Authority(folder)
  const server = authority.issue('server', { alternativeNames: 'DNS:cache.example' })
  const cache = await start(t, {
    stores: { CAS: memory, AC: memory },
    schedulers: { S: { simple: {} } },
    servers: [
      {
        listener: {
          http: {
            socket_address: '127.0.0.1:0',
            tls: { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile },
          },
        },
        services: { ...services, worker_api: { scheduler: 'S' } },
      },
    ],
  })
  const tlsOf = ({ certFile, keyFile }: Issued) => {
    return { ca_file: authority.caFile, cert_file: certFile, key_file: keyFile, server_name: 'cache.example' }
  }
  return { authority, tlsOf, ...cache }
}

t.test('a grpc store connects over mutual TLS, with another server name than the address', async (t) => {
  const { authority, tlsOf, port } = await startCache(t, t.testdir())
  const own = authority.issue('client', { subject: '/CN=client' })
  const endpoint = { address: `grpcs://127.0.0.1:${port}`, tls_config: tlsOf(own) }
  const near = await start(t, {
    stores: { CAS: { grpc: { instance_name: 'main', store_type: 'cas', endpoints: [endpoint] } }, AC: memory },
    servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services }],
  })
  const plain = new TestClient(`127.0.0.1:${near.port}`)
  const { ca } = authority
  const secured = credentials.createSsl(ca, own.key, own.cert)
  const direct = new TestClient(`127.0.0.1:${port}`, { 'grpc.ssl_target_name_override': 'cache.example' }, secured)
  t.teardown(() => {
    plain.close()
    direct.close()
  })
  const { digest, bytes } = blobOf('kept over there')
  const requests = [{ digest: wire(digest), data: bytes }]
  await plain.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests }).response
  const asked = { instanceName: 'main', digests: [wire(digest)] }
  const { responses } = await direct.unary(`${CAS}/BatchReadBlobs`, asked).response
  t.equal(String(responses[0].data), 'kept over there')
})

const workerOf = (folder: string, uri: string, tls_config: object) => ({
  stores: {
    CAS: {
      fast_slow: {
        fast: {
          filesystem: {
            content_path: `${folder}/c`,
            temp_path: `${folder}/t`,
            eviction_policy: { max_bytes: '10mb' },
          },
        },
        slow: { noop: {} },
      },
    },
  },
  workers: [
    {
      local: {
        worker_api_endpoint: { uri, tls_config },
        cas_fast_slow_store: 'CAS',
        work_directory: `${folder}/w`,
      },
    },
  ],
  servers: [],
})

t.test('a worker connects over mutual TLS, and reads its files again for each connection', async (t) => {
  const folder = t.testdir()
  const { authority, tlsOf, port } = await startCache(t, `${folder}/authority`)
  const [stranger, friend] = [new Authority(`${folder}/other`).issue('worker'), authority.issue('worker')]
  const own = { ...friend, certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` }
  const place = ({ cert, key }: Issued): void => {
    writeFileSync(own.certFile, cert)
    writeFileSync(own.keyFile, key)
  }
  place(stranger)
  const { said } = await start(t, workerOf(folder, `grpcs://127.0.0.1:${port}`, tlsOf(own)))
  await said.hears(/no connection to the scheduler/)
  t.notMatch(said.text, /connected to the scheduler/)
  place(friend)
  await said.hears(/connected to the scheduler/)
})

t.test('a worker that does not trust the certificate of the scheduler does not connect', async (t) => {
  const folder = t.testdir()
  const { authority, tlsOf, port } = await startCache(t, `${folder}/authority`)
  const { server_name: _, ...tls } = tlsOf(authority.issue('worker'))
  const { said } = await start(t, workerOf(folder, `grpcs://127.0.0.1:${port}`, tls))
  await said.hears(/no connection to the scheduler.*does not match certificate/)
})

/** A cache that identifies clients by certificate, and a server in front that connects to it with one. */
const startPair = async (t: Test) => {
  const folder = t.testdir({ authority: {}, own: {} })
  const authority = new Authority(`${folder}/authority`)
  const server = authority.issue('server')
  const security = {
    identity: { client_certificates: {} },
    access: [
      { names: ['new'], may: ['read_cas', 'write_cas', 'administer'] },
      { names: ['old'], may: ['read_ac'] },
    ],
  }
  const tls = { cert_file: server.certFile, key_file: server.keyFile, client_ca_file: authority.caFile }
  const http = { socket_address: '127.0.0.1:0', tls }
  const execution = [{ instance_name: 'main', cas_store: 'CAS', scheduler: 'S' }]
  const { port } = await start(t, {
    stores: { CAS: memory, AC: memory },
    schedulers: { S: { simple: {} } },
    servers: [{ listener: { http }, services: { ...services, execution } }],
    security,
  })
  const [certFile, keyFile] = [`${folder}/own/cert.pem`, `${folder}/own/key.pem`]
  const place = (name: string): void => {
    const { cert, key } = authority.issue(name, { subject: `/CN=${name}` })
    writeFileSync(keyFile, key)
    writeFileSync(certFile, cert)
    chmodSync(keyFile, 0o600)
  }
  place('old')
  const clock = new ManualClock(Date.now())
  const said = new Lines()
  const tls_config = { ca_file: authority.caFile, cert_file: certFile, key_file: keyFile }
  const inFront = async (parts: object, more: object): Promise<TestClient> => {
    const servers = [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: { ...services, ...more } }]
    const { config, problems } = parseConfig(JSON.stringify({ servers, ...parts }), 'test.json', { env: {} })
    if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    const running = await assemble(config, { clock, log: said.log })
    t.teardown(() => running.close())
    const client = new TestClient(running.addresses[0]?.address ?? '')
    t.teardown(() => client.close())
    return client
  }
  /** Replaces the certificate that `of` connects with by another one, and then removes it. */
  const rotate = async (of: string, code: () => Promise<string>): Promise<void> => {
    t.equal(await code(), 'PERMISSION_DENIED', 'the server knows it as somebody else')
    place('new')
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(new RegExp(`certificates of ${of} were read again`))
    t.equal(await code(), 'OK')
    t.notMatch(said.text, /every user of this machine/)
    writeFileSync(certFile, 'no certificate')
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(new RegExp(`certificates of ${of} have changed and cannot be used`))
    t.equal(await code(), 'OK', 'what cannot be used changes nothing')
    place('new')
    chmodSync(keyFile, 0o604)
    clock.advance(RELOAD_PERIOD_MS)
    await said.hears(/warn.*every user of this machine can read tls_config.key_file: chmod o-r/)
  }
  return { endpoint: { address: `grpcs://localhost:${port}`, tls_config }, inFront, rotate }
}

t.test('a grpc store uses a replaced certificate for new calls', async (t) => {
  const { endpoint, inFront, rotate } = await startPair(t)
  const CAS_STORE = { grpc: { instance_name: 'main', store_type: 'cas', endpoints: [endpoint] } }
  const client = await inFront({ stores: { CAS: CAS_STORE, AC: memory } }, {})
  const { digest } = blobOf('a blob')
  const request = { instanceName: 'main', blobDigests: [wire(digest)] }
  await rotate('store CAS', async () => (await failure(client.unary(`${CAS}/FindMissingBlobs`, request).response)).code)
})

t.test('a grpc scheduler uses a replaced certificate for new calls', async (t) => {
  const { endpoint, inFront, rotate } = await startPair(t)
  const execution = [{ instance_name: 'main', cas_store: 'CAS', scheduler: 'THERE' }]
  const client = await inFront(
    { stores: { CAS: memory, AC: memory }, schedulers: { THERE: { grpc: { endpoint } } } },
    { execution },
  )
  const list = () => client.unary(`${OPERATIONS}/ListOperations`, { name: 'main/operations' }).response
  await rotate('scheduler THERE', async () => (await failure(list())).code)
})

t.test('a worker logs a warning for a key that every user can read', async (t) => {
  const folder = t.testdir()
  const { authority, tlsOf, port } = await startCache(t, `${folder}/authority`)
  const own = authority.issue('worker')
  chmodSync(own.keyFile, 0o644)
  const { said } = await start(t, workerOf(folder, `grpcs://127.0.0.1:${port}`, tlsOf(own)))
  await said.hears(/warn.*every user of this machine can read tls_config.key_file/)
})
