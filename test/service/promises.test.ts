import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { loadConfig } from '../../src/config/load.js'
import { type LogFields, silentLog } from '../../src/log/log.js'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { failure } from './harness.js'

const V2 = 'build.bazel.remote.execution.v2'
const metadataCodec = codec(`${V2}.RequestMetadata`)
const directoryCodec = codec(`${V2}.Directory`)
const treeCodec = codec(`${V2}.Tree`)
const STORE_BYTES = 1_000_000
const HOUR_MS = 3_600_000

interface TestBlob {
  readonly digest: { readonly hash: string; readonly sizeBytes: number }
  readonly data: Buffer
}

const blobOf = (data: Buffer | string): TestBlob => {
  const bytes = Buffer.from(data)
  const { hash, sizeBytes } = Digest.of(bytes, digestFunctions.SHA256)
  return { digest: { hash, sizeBytes }, data: bytes }
}

const by = (build: string, actionId = '') => {
  const metadata = new Metadata()
  metadata.set(REQUEST_METADATA, metadataCodec.encode({ toolInvocationId: build, actionId }))
  return { metadata }
}

const serve = async (t: Test, memory: object, instances: readonly object[] = []) => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const warned: LogFields[] = []
  const log = { ...silentLog, warn: (_message: string, fields?: LogFields) => void warned.push(fields ?? {}) }
  const config = {
    stores: [
      { name: 'CAS', memory: { eviction_policy: { max_bytes: STORE_BYTES }, ...memory } },
      { name: 'AC', memory: {} },
      { name: 'NOTHING', noop: {} },
    ],
    instances,
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: [
            { cas_store: 'CAS' },
            { instance_name: 'other', cas_store: 'CAS' },
            { instance_name: 'nothing', cas_store: 'NOTHING' },
          ],
          ac: [{ ac_store: 'AC' }],
          metrics: {},
        },
      },
    ],
  }
  const folder = t.testdir({ 'config.json': JSON.stringify(config) })
  const running = await assemble(await loadConfig(`${folder}/config.json`), { clock, log })
  const address = running.addresses[0]?.address ?? ''
  const client = new TestClient(address)
  t.teardown(async () => {
    client.close()
    await running.close()
  })
  const call = (method: string, request: object, options = {}) =>
    client.unary(`${V2}.${method}`, { instanceName: '', ...request }, options).response
  const upload = async (blobs: readonly TestBlob[], options = {}, instanceName = ''): Promise<readonly number[]> => {
    const requests = blobs.map(({ digest, data }) => ({ digest, data }))
    const { responses } = await call('ContentAddressableStorage/BatchUpdateBlobs', { requests, instanceName }, options)
    return responses.map(({ status }: { status: { code: number } | null }) => status?.code ?? 0)
  }
  const missing = async (blobs: readonly TestBlob[], options = {}): Promise<number> => {
    const request = { blobDigests: blobs.map(({ digest }) => digest) }
    return (await call('ContentAddressableStorage/FindMissingBlobs', request, options)).missingBlobDigests.length
  }
  /** By another instance: three times the size of the store. Returns how many uploads were refused. */
  const flood = async (): Promise<number> => {
    let refused = 0
    for (let at = 0; at < 30; at++)
      refused += (
        await upload([blobOf(Buffer.alloc(STORE_BYTES / 10, `flood ${at} ${clock.now()}`))], {}, 'other')
      ).filter(Boolean).length
    return refused
  }
  const metric = async (name: string): Promise<number> => {
    const page = await (await fetch(`http://${address}/metrics`)).text()
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(name) && !line.startsWith('#'))
        ?.split(' ')[1],
    )
  }
  return { clock, call, upload, missing, flood, warned, metric }
}

/** A result with a file, stdout, and a Tree with a file in a folder. */
const built = () => {
  const [file, stdout, inTree] = ['a file', 'said', 'deep'].map(blobOf) as [TestBlob, TestBlob, TestBlob]
  const child = { files: [{ name: 'deep', digest: inTree.digest }] }
  const childBlob = blobOf(directoryCodec.encode(child))
  const root = { directories: [{ name: 'folder', digest: childBlob.digest }] }
  const tree = blobOf(treeCodec.encode({ root, children: [child] }))
  const actionResult = {
    outputFiles: [{ path: 'file', digest: file.digest }],
    outputDirectories: [{ path: 'tree', treeDigest: tree.digest }],
    stdoutDigest: stdout.digest,
  }
  return { action: blobOf('an action').digest, actionResult, outputs: [file, stdout, inTree, tree] }
}

t.test('what a hit names stays for the build that got the hit, whatever others upload', async (t) => {
  const { clock, call, upload, missing, flood } = await serve(t, {})
  const { action, actionResult, outputs } = built()
  await upload(outputs)
  await call('ActionCache/UpdateActionResult', { actionDigest: action, actionResult })
  clock.advance(4 * HOUR_MS)
  await call('ActionCache/GetActionResult', { actionDigest: action }, by('build'))
  t.equal(await flood(), 0)
  t.equal(await missing(outputs), 0, 'outputs, the Tree and what is in it')
})

t.test('control: with a retention of 0 the same flood takes the outputs away', async (t) => {
  const { clock, call, upload, missing, flood } = await serve(t, { retention: 0 })
  const { action, actionResult, outputs } = built()
  await upload(outputs)
  await call('ActionCache/UpdateActionResult', { actionDigest: action, actionResult })
  clock.advance(4 * HOUR_MS)
  await call('ActionCache/GetActionResult', { actionDigest: action }, by('build'))
  await flood()
  t.equal(await missing(outputs), outputs.length)
  const gone = await failure(call('ActionCache/GetActionResult', { actionDigest: action }))
  t.equal(gone.code, 'NOT_FOUND', 'honest: a hit whose output is gone is none')
  t.match(gone.message, /output [0-9a-f]{64}-\d+ is no longer in the CAS/, 'and names the output')
  await upload(outputs)
  t.equal(await missing(outputs), 0, 'a new upload is always taken')
  await call('ActionCache/GetActionResult', { actionDigest: action })
})

t.test('refuse: the flood is refused, and what anybody asked about stays', async (t) => {
  const { clock, upload, missing, flood } = await serve(t, { when_full: 'refuse' })
  const { outputs } = built()
  await upload(outputs)
  clock.advance(4 * HOUR_MS)
  t.equal(await missing(outputs), 0)
  t.ok((await flood()) >= 20)
  t.equal(await missing(outputs), 0)
  clock.advance(4 * HOUR_MS)
  t.equal((await upload([blobOf('new')]))[0], 0, 'room again, once promises have ended')
})

t.test('a broken promise is told, with the store and the build', async (t) => {
  const { upload, flood, warned } = await serve(t, { eviction_policy: { max_bytes: 300_000 } })
  await upload([blobOf(Buffer.alloc(100_000))], by('build'))
  await flood()
  t.match(
    warned.filter(({ promisedS }) => promisedS !== undefined),
    [{ store: 'CAS', promisedS: 10_800 }],
    'one line a minute',
  )
})

t.test('an instance can ask for a longer retention than its store promises', async (t) => {
  const { clock, upload, missing, flood } = await serve(t, { retention: '1h' }, [{ retention: '1d' }])
  const { outputs } = built()
  await upload(outputs)
  t.equal(await missing(outputs), 0)
  clock.advance(20 * HOUR_MS)
  await flood()
  t.equal(await missing(outputs), 0)
})

t.test('calls with which a client only extends its leases are counted, whatever the store is', async (t) => {
  const { call, upload, missing, metric } = await serve(t, {})
  const { outputs } = built()
  await upload(outputs)
  t.equal(await missing(outputs, by('build')), 0)
  t.equal(await metric('svc_lease_extensions_total'), 0)
  const blobDigests = outputs.map(({ digest }) => digest)
  const method = 'ContentAddressableStorage/FindMissingBlobs'
  await missing(outputs, by('build', 'lease-extension'))
  await call(method, { blobDigests, instanceName: 'nothing' }, by('build', 'lease-extension'))
  await call(method, { blobDigests, instanceName: 'nothing' }, by('build', 'another action'))
  t.equal(await metric('svc_lease_extensions_total'), 2)
  t.equal(await metric('svc_invocations'), 1)
})
