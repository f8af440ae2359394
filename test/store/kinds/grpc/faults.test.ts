import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assemble } from '../../../../src/assembly/main.js'
import { type Clock, systemClock } from '../../../../src/base/clock.js'
import { Code } from '../../../../src/base/status-error.js'
import { getBytes, putBytes } from '../../../../src/blobs/store.js'
import { parseConfig } from '../../../../src/config/load.js'
import { HealthRegistry } from '../../../../src/health/registry.js'
import { silentLog } from '../../../../src/log/log.js'
import { codec } from '../../../../src/proto/codec.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { serve } from '../../../service/harness.js'
import { untilSo } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { folderOf, freePorts, portOf } from '../../remote/backend.js'
import { counted } from '../../remote/counted.js'
import { rejects } from '../../suite.js'
import { endpoint, openGrpcStore, startRemexec, untilWell } from './remexec.js'

// These tests wait for timers and programs, most of them for seconds: side by side they take as long as the longest.
t.jobs = 4

const KIB = 1024
const MIB = 1024 * KIB
const PATIENT = { max_retries: 10, delay: 0.02, jitter: 0, budget_s: 30 }
const PLAIN = { experimental_remote_cache_compression: false } as const

const blob = (sizeBytes: number, seed: string) => {
  const bytes = bytesOf(sizeBytes, seed)
  return { bytes, digest: digestOf(bytes) }
}

void t.test('a server that is absent at start is UNAVAILABLE, and works when it is there', async (t) => {
  const first = await startRemexec(t)
  await first.kill()
  const { store, probes } = await openGrpcStore(t, { endpoints: [endpoint(first.port)] })
  const registry = new HealthRegistry()
  for (const probe of probes) registry.register(probe)
  const { bytes, digest } = blob(100, 'early')
  await rejects(t, put(store, digest, bytes), 'UNAVAILABLE')
  const told = JSON.stringify(await registry.report(5000))
  t.match(told, new RegExp(`/connections/TEST/127.0.0.1:${first.port}.*"Failed"`))
  await first.restart()
  await untilWell(store)
  await put(store, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes))
  // Its last answer is reported a moment longer.
  await untilSo(async () => /"Ok"/.test(JSON.stringify(await registry.report(5000))))
})

void t.test('a server that does not answer is DEADLINE_EXCEEDED in time, and works again afterwards', async (t) => {
  const server = await startRemexec(t)
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(server.port)], rpc_timeout_s: 1 })
  const small = blob(100, 'slow')
  const large = blob(3 * MIB, 'slow and large')
  // Without a limit: a loaded machine takes longer than a second.
  const patient = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
  for (const { digest, bytes } of [small, large]) await put(patient.store, digest, bytes)
  server.pause()
  await Promise.all([
    rejects(t, get(store, small.digest), 'DEADLINE_EXCEEDED'),
    rejects(t, get(store, large.digest), 'DEADLINE_EXCEEDED'),
    rejects(t, isPresent(store, small.digest), 'DEADLINE_EXCEEDED'),
  ])
  server.resume()
  await untilSo(async () => (await get(store, large.digest)).equals(large.bytes))
})

void t.test(
  'a blob that is larger than the store of the server is INVALID_ARGUMENT, and the server has no part of it',
  async (t) => {
    const cas = asCas(await memoryStore({ max_bytes: 500_000 }))
    const { listener } = await serve(t, { instances: { main: { cas } } })
    const port = Number(listener.address.split(':').at(-1))
    const { store, close } = await openGrpcStore(t, { endpoints: [endpoint(port)] })
    for (const sizeBytes of [600_000, 5_000_000]) {
      const { bytes, digest } = blob(sizeBytes, 'too much')
      await rejects(t, put(store, digest, bytes), 'INVALID_ARGUMENT')
      t.notOk(await isPresent(store, digest))
    }
    const { bytes, digest } = blob(100_000, 'not too much')
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes))
    await close()
    await listener.close(0)
  },
)

/** A server whose list of tokens is read again every 50 ms instead of every five seconds. */
const serveGuarded = async (t: Test, tokens_file: string): Promise<number> => {
  const memory = { memory: { eviction_policy: { max_bytes: '100MB' } } }
  const services = { cas: [{ instance_name: 'main', cas_store: 'CAS' }] }
  const servers = [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services }]
  const security = { identity: { tokens_file } }
  const { config, problems } = parseConfig(JSON.stringify({ stores: { CAS: memory }, security, servers }), 'guarded')
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const clock: Clock = { ...systemClock, every: (periodMs, tick) => systemClock.every(periodMs / 100, tick) }
  const running = await assemble(config, { clock, log: silentLog })
  t.teardown(() => running.close())
  return Number(running.addresses[0]?.address.split(':').at(-1))
}

void t.test('a revoked token is UNAUTHENTICATED, and works again when it is restored', async (t) => {
  const file = join(await folderOf(t), 'tokens')
  const line = (token: string): string => `builders ${createHash('sha256').update(token).digest('hex')}\n`
  const give = (token: string): Promise<void> => writeFile(file, line(token), { mode: 0o600 })
  await give('good')
  const port = await serveGuarded(t, file)
  const headers = new Map([['authorization', 'Bearer good']])
  const { store: backend, probes } = await openGrpcStore(t, { endpoints: [endpoint(port)], headers })
  const { store, failures } = counted(backend)
  const [before, after] = [blob(100_000, 'before'), blob(5 * MIB, 'after')]
  await put(store, before.digest, before.bytes)
  await give('another')
  await untilSo(async () => (await codeOf(get(store, before.digest))) === Code.UNAUTHENTICATED)
  failures()
  await rejects(t, put(store, after.digest, after.bytes), 'UNAUTHENTICATED')
  await rejects(t, isPresent(store, before.digest), 'UNAUTHENTICATED')
  t.same(failures(), ['find_missing error: 1', 'write error: 1'])
  await untilSo(async () => (await probes[0]?.check(call.signal))?.state === 'Failed')
  await give('good')
  await untilSo(async () => (await get(store, before.digest)).equals(before.bytes))
  t.notOk(await isPresent(store, after.digest), 'no part of the rejected blob')
  await put(store, after.digest, after.bytes)
  t.ok((await get(store, after.digest)).equals(after.bytes))
})

const codeOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => undefined,
    (error: { readonly code: number }) => error.code,
  )

void t.test('one of two servers may be gone', async (t) => {
  const here = await startRemexec(t)
  const gone = await startRemexec(t)
  await gone.kill()
  const { store, probes } = await openGrpcStore(t, {
    endpoints: [endpoint(gone.port), endpoint(here.port)],
    retry: PATIENT,
  })
  for (let i = 0; i < 6; i++) {
    const { bytes, digest } = blob(500, `one of two ${i}`)
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes))
  }
  t.match(await store.health(call), { state: 'Warning', message: /^1 of 2 servers cannot be reached/ })
  t.equal(probes.length, 2)
})

void t.test('an action cache on another server keeps results, and returns NOT_FOUND for others', async (t) => {
  const { port } = await startRemexec(t)
  const { store } = await openGrpcStore(t, { endpoints: [endpoint(port)], store_type: 'ac' })
  const results = codec('build.bazel.remote.execution.v2.ActionResult')
  const action = Digest.of(Buffer.from('an action'), digestFunctions.SHA256).asKey()
  const other = Digest.of(Buffer.from('another'), digestFunctions.SHA256).asKey()
  await rejects(t, getBytes(store, action, MIB, call), 'NOT_FOUND')
  const bytes = results.encode({ exitCode: 3, stdoutRaw: Buffer.from('said') })
  await putBytes(store, action, bytes, call)
  const found = results.decode(await getBytes(store, action, MIB, call))
  t.equal(found.exitCode, 3)
  t.equal(found.stdoutRaw.toString(), 'said')
  const missing = await store.findMissing(DigestBatch.of([other, action]), call)
  t.same(
    missing.digests().map(({ key }) => key),
    [other.key],
  )
  await rejects(t, store.remove(action, 'unwanted', call), 'UNIMPLEMENTED')
  await rejects(t, putBytes(store, other, Buffer.from('\x0f no result'), call), 'INVALID_ARGUMENT')
})

void t.test('bytes from another server that do not match the digest are never served', async (t) => {
  const wrong = await memoryStore()
  const { listener } = await serve(t, { instances: { main: { cas: wrong } } })
  const at = [endpoint(Number(listener.address.split(':').at(-1)))]
  for (const options of [{}, PLAIN]) {
    const { store } = await openGrpcStore(t, { endpoints: at, ...options })
    for (const sizeBytes of [1000, 3 * MIB]) {
      const { bytes, digest } = blob(sizeBytes, 'right')
      await put(wrong, digest, blob(sizeBytes, 'wrong').bytes)
      await rejects(t, get(store, digest), 'DATA_LOSS')
      await put(wrong, digest, bytes)
      t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes`)
    }
  }
  await listener.close(0)
})

void t.test('every call has the configured headers, and the forwarded ones of the client', async (t) => {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer().on('stream', (stream, headers) => {
    seen.push(headers)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { store, close } = await openGrpcStore(t, {
    endpoints: [endpoint(portOf(server.address()))],
    headers: new Map([['authorization', 'Bearer of-this-machine']]),
    forward_headers: ['X-Team'],
  })
  const metadata = new Map([
    ['x-team', 'compilers'],
    ['x-other', 'not for others'],
  ])
  const { digest } = blob(1000, 'headers')
  await rejects(t, store.get(digest, WHOLE, { ...call, metadata }), 'UNIMPLEMENTED')
  await rejects(t, store.findMissing(DigestBatch.of([digest]), { ...call, metadata }), 'UNIMPLEMENTED')
  t.ok(seen.length >= 2)
  for (const headers of seen) t.match(headers, { authorization: 'Bearer of-this-machine', 'x-team': 'compilers' })
  t.notOk(seen.some((headers) => 'x-other' in headers))
  await close()
})

void t.test('a contradictory configuration is rejected at start', async (t) => {
  const [port = 0] = await freePorts(1)
  const at = endpoint(port)
  const tls = { use_native_roots: false }
  const wrong = [
    { ...at, address: 'nonsense' },
    { ...at, address: `ftp://127.0.0.1:${port}` },
    { ...at, address: `grpcs://127.0.0.1:${port}` },
    { ...at, tls_config: { ...tls, ca_file: '/etc/hosts' } },
    { ...at, address: `grpcs://127.0.0.1:${port}`, tls_config: tls },
    // A file without a certificate: no server would be trusted.
    { ...at, address: `grpcs://127.0.0.1:${port}`, tls_config: { ...tls, ca_file: '/etc/hosts' } },
    {
      ...at,
      address: `grpcs://127.0.0.1:${port}`,
      tls_config: { ...tls, ca_file: '/etc/hosts', cert_file: '/etc/hosts' },
    },
  ]
  for (const endpoint of wrong) await rejects(t, openGrpcStore(t, { endpoints: [endpoint] }), 'INVALID_ARGUMENT')
  const batching = { max_blob_size_bytes: 1000, max_batch_bytes: 1000, dispatch_slots: 1, max_queued_bytes: 1000 }
  const both = { endpoints: [at], forward_headers: ['authorization'], experimental_read_batching: batching }
  await rejects(t, openGrpcStore(t, both), 'INVALID_ARGUMENT')
})
