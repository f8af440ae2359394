import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { collect, TestClient } from '../server/client.js'
import { messagesOf, openWrite, read, uploadName, write } from '../service/bytestream-client.js'
import { type BuiltAction, buildAction, directoryCodec, EXECUTION, responseOf } from '../service/execution-harness.js'
import { AC, type Blob, BYTE_STREAM, blobOf, CAS, failure, randomBlob, SHA256, wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { until } from '../until.js'

/** Two instances that share every store, and a worker, and may see nothing of each other. */
const TENANTS = ['a', 'b'] as const
type Tenant = (typeof TENANTS)[number]

const filesystem = (folder: string, name: string) => ({
  filesystem: {
    content_path: join(folder, name),
    temp_path: join(folder, `${name}-temp`),
    eviction_policy: { max_bytes: '100mb' },
  },
})

const perTenant = <T>(options: T): Record<string, T> => Object.fromEntries(TENANTS.map((name) => [name, options]))

interface Wishes {
  readonly transport?: string
  readonly stores?: object
  readonly hasWorker?: boolean
}

const configOf = (folder: string, { transport = 'remexec', stores, hasWorker = false }: Wishes): object => ({
  stores: {
    CAS: { fast_slow: { fast: filesystem(folder, 'cas'), slow: { noop: {} } } },
    AC: filesystem(folder, 'ac'),
    CHUNKS: { memory: { eviction_policy: { max_bytes: '10mb' } } },
    ...stores,
  },
  instances: perTenant({ isolate: true }),
  schedulers: { S: { simple: {} } },
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0', transport } },
      services: {
        cas: perTenant({
          cas_store: 'CAS',
          experimental_chunking: { index_store: 'CHUNKS', avg_chunk_size_bytes: 4096 },
        }),
        ac: perTenant({ ac_store: 'AC' }),
        execution: perTenant({ cas_store: 'CAS', scheduler: 'S' }),
      },
    },
    { listener: { http: { socket_address: '127.0.0.1:0' } }, services: { worker_api: { scheduler: 'S' } } },
  ],
  workers: hasWorker ? [{ local: workerOptions(folder, 'grpc://127.0.0.1:0') }] : [],
})

const workerOptions = (folder: string, uri: string) => ({
  worker_api_endpoint: { uri },
  cas_fast_slow_store: 'CAS',
  work_directory: join(folder, 'work'),
})

/** Closed before the folder of the test is removed, because a teardown would run after that. */
const servers: { close(): Promise<void> }[] = []
t.afterEach(async () => {
  for (const running of servers.splice(0)) await running.close()
})

const start = async (config: object, log = new Lines().log) => {
  const { running } = await startStoppable(config, log)
  return running.addresses.map(({ address }) => address)
}

const startStoppable = async (config: object, log = new Lines().log) => {
  const { config: parsed, problems } = parseConfig(JSON.stringify(config), 'test.json', { env: {} })
  if (parsed === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(parsed, { clock: systemClock, log })
  servers.push(running)
  return { running, address: running.addresses[0]?.address }
}

const connect = (t: Test, address = ''): TestClient => {
  const client = new TestClient(address)
  t.teardown(() => client.close())
  return client
}

const upload = (client: TestClient, instanceName: Tenant, ...blobs: readonly Blob[]) =>
  client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName,
    requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response

const uploadAction = (client: TestClient, instance: Tenant, { action, command, root }: BuiltAction) =>
  upload(client, instance, action, command, root)

const missing = async (client: TestClient, instanceName: Tenant, ...blobs: readonly Blob[]): Promise<string[]> => {
  const blobDigests = blobs.map(({ digest }) => wire(digest))
  const answer = await client.unary(`${CAS}/FindMissingBlobs`, { instanceName, blobDigests }).response
  return answer.missingBlobDigests.map(({ hash }: { hash: string }) => hash)
}

const batchRead = async (client: TestClient, instanceName: Tenant, { digest }: Blob): Promise<number> => {
  const answer = await client.unary(`${CAS}/BatchReadBlobs`, { instanceName, digests: [wire(digest)] }).response
  return answer.responses[0].status?.code ?? 0
}

const execute = async (client: TestClient, instanceName: Tenant, { digest }: BuiltAction) => {
  const { messages } = await collect(
    client.serverStream(`${EXECUTION}/Execute`, { instanceName, actionDigest: wire(digest) }),
  )
  return responseOf(messages.at(-1))
}

const NOT_FOUND = 5

interface Kept {
  readonly small: Blob
  readonly large: Blob
  /** A directory with `small` in it. */
  readonly leaf: Blob
  readonly action: BuiltAction
}

/** Blobs, a tree and a result of instance `a`. */
const fill = async (client: TestClient): Promise<Kept> => {
  const [small, large] = [randomBlob(100), randomBlob(200_000)]
  const leaf = blobOf(directoryCodec.encode({ files: [{ name: 'secret', digest: wire(small.digest) }] }))
  const action = buildAction({ command: { arguments: [small.digest.hash] } })
  await upload(client, 'a', small, leaf)
  await uploadAction(client, 'a', action)
  await write(client, messagesOf(uploadName(large.digest, { instanceName: 'a' }), large.bytes))
  const outputFiles = [{ path: 'o', digest: wire(small.digest) }]
  const actionResult = { stdoutDigest: wire(small.digest), outputFiles }
  await client.unary(`${AC}/UpdateActionResult`, { instanceName: 'a', actionDigest: wire(action.digest), actionResult })
    .response
  return { small, large, leaf, action }
}

/** Checks that `a` finds its blobs with every method, and `b` with none. Returns the chunks of the large blob. */
const checkApart = async (t: Test, client: TestClient, { small, large, leaf, action }: Kept): Promise<object[]> => {
  const ask = (name: string, request: object) => client.unary(name, request).response
  t.same(await missing(client, 'a', small, large, leaf), [], 'its owner has it')
  t.same(
    await missing(client, 'b', small, large, leaf),
    [small, large, leaf].map(({ digest: { hash } }) => hash),
    'for others it is missing',
  )
  t.equal(await batchRead(client, 'a', small), 0)
  t.equal(await batchRead(client, 'b', small), NOT_FOUND)
  t.ok((await read(client, formatReadName('a', large.digest))).bytes.equals(large.bytes))
  const unread = await failure(read(client, formatReadName('b', large.digest)))
  t.equal(unread.code, 'NOT_FOUND')
  const never = await failure(read(client, formatReadName('b', randomBlob(200_000).digest)))
  const shape = (text: string): string => text.replaceAll(/[0-9a-f]{64}/g, 'HASH')
  t.equal(shape(unread.message), shape(never.message), 'as of a blob that nobody has')
  t.match(unread.message, large.digest.hash, 'told by the name that was asked for')
  const zstd = compressors.find(({ name }) => name === 'ZSTD')
  t.equal((await failure(read(client, formatReadName('b', large.digest, zstd)))).code, 'NOT_FOUND')
  const status = { resourceName: uploadName(large.digest, { instanceName: 'b' }) }
  t.equal((await failure(ask(`${BYTE_STREAM}/QueryWriteStatus`, status))).code, 'NOT_FOUND')
  const tree = (instanceName: Tenant) =>
    collect(client.serverStream(`${CAS}/GetTree`, { instanceName, rootDigest: wire(leaf.digest) }))
  t.equal((await tree('a')).messages.length, 1)
  t.equal((await tree('b')).status?.code, NOT_FOUND)
  const result = (instanceName: Tenant) => {
    const inlined = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ['o'] }
    return ask(`${AC}/GetActionResult`, { instanceName, actionDigest: wire(action.digest), ...inlined })
  }
  const { stdoutRaw, outputFiles } = await result('a')
  t.same([stdoutRaw, outputFiles[0].contents], [small.bytes, small.bytes])
  t.equal((await failure(result('b'))).code, 'NOT_FOUND', 'nor what is inlined')
  const executed = await execute(client, 'b', action)
  t.equal(executed.status?.code, 9, 'FAILED_PRECONDITION: an action of another is none')
  t.match(
    executed.status?.details.map(({ value }: { value: Buffer }) => value.toString('latin1')),
    [new RegExp(action.digest.hash)],
  )
  const split = (instanceName: Tenant) =>
    ask(`${CAS}/SplitBlob`, { instanceName, blobDigest: wire(large.digest) }).then(({ chunkDigests }) => chunkDigests)
  const chunkDigests = await split('a')
  t.ok(chunkDigests.length > 1)
  t.equal((await failure(split('b'))).code, 'NOT_FOUND')
  for (const { hash, sizeBytes } of chunkDigests) {
    const request = { instanceName: 'b', digests: [{ hash, sizeBytes }] }
    const { responses } = await ask(`${CAS}/BatchReadBlobs`, request)
    t.equal(responses[0].status.code, NOT_FOUND, 'nor one of its chunks')
  }
  return chunkDigests
}

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: no method of another instance finds the blobs of an isolated instance`, async (t) => {
    const [address] = await start(configOf(t.testdir(), { transport }))
    const client = connect(t, address)
    const kept = await fill(client)
    const chunkDigests = await checkApart(t, client, kept)
    const splice = (instanceName: Tenant) => {
      const blobDigest = wire(kept.large.digest)
      return client.unary(`${CAS}/SpliceBlob`, { instanceName, blobDigest, chunkDigests, chunkingFunction: 1 }).response
    }
    t.equal((await failure(splice('b'))).code, 'NOT_FOUND', 'nor put together of the chunks of others')
    await splice('a')
  })

  t.test(`${transport}: an upload of one isolated instance does not end that of another`, async (t) => {
    const [address] = await start(configOf(t.testdir(), { transport }))
    const client = connect(t, address)
    const blob = randomBlob(300_000)
    const [first, ...others] = messagesOf(uploadName(blob.digest, { instanceName: 'b' }), blob.bytes)
    const waiting = openWrite(client)
    await waiting.send(first ?? {})
    await write(client, messagesOf(uploadName(blob.digest, { instanceName: 'a' }), blob.bytes))
    t.same(await missing(client, 'b', blob), [blob.digest.hash])
    for (const message of others) await waiting.send(message)
    waiting.end()
    t.equal((await waiting.response).committedSize, blob.bytes.length, 'it took all of its bytes')
    t.same(await missing(client, 'b', blob), [])
  })
}

t.test('an instance keeps no more than max_stored_bytes, and evicts only its own blobs', async (t) => {
  const instances = { a: { isolate: true, max_stored_bytes: 1000 }, b: { isolate: true } }
  const [address] = await start({ ...configOf(t.testdir(), {}), instances })
  const client = connect(t, address)
  const [first, second, large] = [randomBlob(600), randomBlob(600), randomBlob(2000)]
  await upload(client, 'b', first, large)
  await upload(client, 'a', first)
  t.same(await missing(client, 'a', first), [])
  await upload(client, 'a', second)
  await until(async () => (await missing(client, 'a', first)).length > 0)
  t.same(await missing(client, 'a', second), [])
  const { responses } = await upload(client, 'a', large)
  t.match(responses[0].status, { code: 8, message: /instance "a" may keep 1000 bytes in this store/ })
  t.same(await missing(client, 'b', first, large), [])
})

t.test('neither is it after a restart', async (t) => {
  const folder = t.testdir()
  const run = async (): Promise<{ readonly client: TestClient; readonly close: () => Promise<void> }> => {
    const { running, address } = await startStoppable(configOf(folder, {}))
    return { client: connect(t, address), close: () => running.close() }
  }
  const first = await run()
  const kept = await fill(first.client)
  await first.close()
  const second = await run()
  await checkApart(t, second.client, kept)
  await second.close()
})

t.test('isolated instances do not share results, and each has its own', async (t) => {
  const [address] = await start(configOf(t.testdir(), {}))
  const client = connect(t, address)
  const { digest } = buildAction()
  const output = blobOf('output of a')
  const keep = (instanceName: Tenant, exitCode: number) =>
    client.unary(`${AC}/UpdateActionResult`, {
      instanceName,
      actionDigest: wire(digest),
      actionResult: { exitCode, outputFiles: [{ path: 'o', digest: wire(output.digest) }] },
    }).response
  const result = (instanceName: Tenant) =>
    client.unary(`${AC}/GetActionResult`, { instanceName, actionDigest: wire(digest) }).response
  await upload(client, 'a', output)
  await keep('a', 0)
  t.equal((await result('a')).exitCode, 0)
  t.equal((await failure(result('b'))).code, 'NOT_FOUND')
  await keep('b', 0)
  t.equal((await failure(result('b'))).code, 'NOT_FOUND', 'its outputs are with another instance, which is not there')
  await upload(client, 'b', output)
  await keep('b', 3)
  t.equal((await result('b')).exitCode, 3)
  t.equal((await result('a')).exitCode, 0, 'and affects no other instance')
})

t.test('a completeness_checking store checks outputs in the instance of the result', async (t) => {
  const folder = t.testdir()
  const checking = {
    completeness_checking: { backend: filesystem(folder, 'checked'), cas_store: { ref_store: { name: 'CAS' } } },
  }
  const [address] = await start(configOf(folder, { stores: { AC: checking } }))
  const client = connect(t, address)
  const { digest } = buildAction()
  const output = blobOf('an output')
  await upload(client, 'a', output)
  for (const instanceName of TENANTS) {
    const actionResult = { outputFiles: [{ path: 'o', digest: wire(output.digest) }] }
    await client.unary(`${AC}/UpdateActionResult`, { instanceName, actionDigest: wire(digest), actionResult }).response
  }
  const result = (instanceName: Tenant) =>
    client.unary(`${AC}/GetActionResult`, { instanceName, actionDigest: wire(digest) }).response
  t.equal((await result('a')).outputFiles.length, 1)
  t.equal((await failure(result('b'))).code, 'NOT_FOUND')
})

/** Prints a file of an input directory, and copies it twice. */
const catAction = (secret: Blob): { readonly built: BuiltAction; readonly folder: Blob } => {
  const folder = blobOf(directoryCodec.encode({ files: [{ name: 'in', digest: wire(secret.digest) }] }))
  const root = { directories: [{ name: 'd', digest: wire(folder.digest) }] }
  const command = { arguments: ['/bin/sh', '-c', 'cat d/in; cat d/in d/in > out'], outputPaths: ['out', 'none'] }
  return { built: buildAction({ command, root }), folder }
}

const runs = async (t: Test, client: TestClient, said: Lines): Promise<void> => {
  // Longer than what is written from memory: the file of such an output is adopted.
  const secret = randomBlob(50_000)
  const written = blobOf(Buffer.concat([secret.bytes, secret.bytes]))
  const { built, folder } = catAction(secret)
  await uploadAction(client, 'a', built)
  await upload(client, 'a', folder, secret)
  const { result, status, message } = await execute(client, 'a', built)
  t.equal(result?.exitCode, 0, `${status?.message} ${message}`)
  const stdout = Digest.parse(result?.stdoutDigest, SHA256)
  t.equal(stdout.hash, secret.digest.hash)
  t.ok((await read(client, formatReadName('a', stdout))).bytes.equals(secret.bytes), 'its output is its own')
  t.same(result?.outputFiles[0]?.digest, wire(written.digest))
  t.ok((await read(client, formatReadName('a', written.digest))).bytes.equals(written.bytes), 'and what it wrote')
  t.same(await missing(client, 'b', written), [written.digest.hash], 'no other instance has it')

  const unknown = await execute(client, 'b', built)
  t.match(unknown.status?.message, built.digest.hash, 'the action of another instance is missing')
  await uploadAction(client, 'b', built)
  const guessed = await execute(client, 'b', built)
  t.equal(guessed.status?.code, 9, 'FAILED_PRECONDITION: what is below a guessed digest is missing')
  const told = JSON.stringify(guessed.status?.details.map(({ value }: { value: Buffer }) => value.toString('latin1')))
  t.match(told, folder.digest.hash)
  t.notMatch(told, secret.digest.hash, 'the worker, which has read the directory, tells nothing of what is in it')
  await upload(client, 'b', folder)
  t.match((await execute(client, 'b', built)).status?.details[0]?.value.toString('latin1'), secret.digest.hash)
  t.same(await missing(client, 'b', secret), [secret.digest.hash])
  await upload(client, 'b', secret)
  t.equal((await execute(client, 'b', built)).result?.exitCode, 0, 'with all of it it runs')
  t.same(await missing(client, 'b', written), [], 'and what it writes is there as well')
  t.notMatch(said.text, /an attempt failed/, 'what went wrong only the first time counts')
}

t.test('a worker for isolated instances uses only blobs of the instance of the action', async (t) => {
  const said = new Lines()
  const [address] = await start(configOf(t.testdir(), { hasWorker: true }), said.log)
  await runs(t, connect(t, address), said)
})

t.test('a worker of another process asks for inputs in the instance of the action', async (t) => {
  const folder = t.testdir({ server: {}, worker: {} })
  const [address, workerApi] = await start(configOf(join(folder, 'server'), {}))
  const slow = { grpc: { instance_name: 'a', endpoints: [{ address: `grpc://${address}` }], store_type: 'cas' } }
  const said = new Lines()
  await start(
    {
      stores: { CAS: { fast_slow: { fast: filesystem(join(folder, 'worker'), 'cas'), slow } } },
      workers: [{ local: workerOptions(join(folder, 'worker'), `grpc://${workerApi}`) }],
      servers: [],
    },
    said.log,
  )
  await said.hears(/connected to the scheduler/)
  await runs(t, connect(t, address), said)
})
