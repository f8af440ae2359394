import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
// biome-ignore lint/plugin: counts of threads come each second, fifteen of these
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { collect, TestClient } from '../server/client.js'
import { found, until } from '../until.js'

// For changes in: src/assembly, src/server, src/store/index, src/store/kinds/filesystem

const REAPI = 'build.bazel.remote.execution.v2'
const CAS = `${REAPI}.ContentAddressableStorage`
const THREADS = 2

const text = (folder: string, more = '', threads = THREADS): string => `{
  global: { threads: ${threads} },
  stores: {
    CAS: { fast_slow: { fast: { filesystem: { content_path: '${folder}/cas', temp_path: '${folder}/temp', eviction_policy: { max_bytes: '100mb' } } }, slow: { noop: {} } } },
    AC: { filesystem: { content_path: '${folder}/ac', temp_path: '${folder}/temp', eviction_policy: { max_bytes: '10mb' } } },
    MEMORY: { memory: { eviction_policy: { max_bytes: '10mb' } } },
  },
  servers: [
    { name: 'read', listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], bytestream: [{ cas_store: 'CAS', persist_stream_on_disconnect_timeout_s: 5 }], metrics: {} } },
    { name: 'carried', listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas: [{ cas_store: 'MEMORY' }] } },
  ],
  ${more}
}`

const configOf = (json: string) => {
  const parsed = parseConfig(json, 'threads.json5', { env: {} })
  if ('problems' in parsed && parsed.problems.length > 0) throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}

const serving = async (t: Test) => {
  const folder = t.testdir()
  const config = configOf(text(folder))
  if (config === undefined) throw new Error('the configuration has errors')
  const running = await assemble(config, { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const addressOf = (name: string): string => running.addresses.find((each) => each.name === name)?.address ?? ''
  /** One for each thread. */
  const clientsOf = (name: string): TestClient[] =>
    Array.from({ length: THREADS }, () => {
      const client = new TestClient(addressOf(name), { 'grpc.use_local_subchannel_pool': 1 })
      t.teardown(() => client.close())
      return client
    })
  const tempFiles = (): Promise<string[]> => readdir(`${folder}/temp`)
  return { running, clientsOf, addressOf, tempFiles }
}

const blobOf = (content: Buffer) => ({
  content,
  digest: { hash: createHash('sha256').update(content).digest('hex'), sizeBytes: content.length },
})

/** A call that is never answered fails the test and says which it was. */
const ANSWER_MS = 60_000
const within = () => ({ deadline: Date.now() + ANSWER_MS })

const upload = async (client: TestClient, { content, digest }: ReturnType<typeof blobOf>): Promise<void> => {
  const request = { requests: [{ digest, data: content }] }
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, request, { options: within() }).response
  if (responses[0].status.code !== 0) throw new Error(JSON.stringify(responses))
}

const missing = async (client: TestClient, digests: readonly object[]): Promise<string[]> => {
  const request = { blobDigests: digests }
  const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, request, { options: within() }).response
  return missingBlobDigests.map(({ hash }: { hash: string }) => hash)
}

t.setTimeout(600_000)

t.test('a server with service threads', async (t) => {
  const { running, clientsOf, addressOf, tempFiles } = await serving(t)

  for (const name of ['read', 'carried'])
    t.test(`${name}: what one connection has uploaded, every other finds and reads at once`, async (t) => {
      const clients = clientsOf(name)
      for (let round = 0; round < 60; round++) {
        const writer = clients[round % THREADS] as TestClient
        const size = [30, 1000, 70_000, 300_000][round % 4] as number
        const blob = blobOf(Buffer.alloc(size, `${name} ${round}`))
        for (const client of clients) t.same(await missing(client, [blob.digest]), [blob.digest.hash])
        await upload(writer, blob)
        await Promise.all(
          clients.map(async (client) => {
            if ((await missing(client, [blob.digest])).length > 0) t.fail(`round ${round}: it is missing`)
            const resourceName = `blobs/${blob.digest.hash}/${blob.digest.sizeBytes}`
            const { messages } = await collect(
              client.serverStream('google.bytestream.ByteStream/Read', { resourceName }),
            )
            const read = Buffer.concat(messages.map(({ data }) => data))
            if (!read.equals(blob.content)) t.fail(`round ${round}: other bytes are read`)
          }),
        )
      }
    })

  t.test('a result is a hit on every connection at once, and a miss when an output is gone', async (t) => {
    const clients = clientsOf('read')
    const [first] = clients as [TestClient]
    const output = blobOf(Buffer.from('an output'))
    const actionDigest = blobOf(Buffer.from('an action')).digest
    await upload(first, output)
    const actionResult = { outputFiles: [{ path: 'out', digest: output.digest }] }
    await first.unary(`${REAPI}.ActionCache/UpdateActionResult`, { actionDigest, actionResult }).response
    const lacking = { outputFiles: [{ path: 'out', digest: blobOf(Buffer.from('never')).digest }] }
    const otherDigest = blobOf(Buffer.from('another action')).digest
    await first
      .unary(`${REAPI}.ActionCache/UpdateActionResult`, { actionDigest: otherDigest, actionResult: lacking })
      .response.catch(() => {})
    for (const client of clients) {
      t.match(await client.unary(`${REAPI}.ActionCache/GetActionResult`, { actionDigest }).response, actionResult)
      const lacked = client.unary(`${REAPI}.ActionCache/GetActionResult`, { actionDigest: otherDigest }).response
      await t.rejects(lacked, { code: 5 })
    }
  })

  t.test('an upload that was interrupted on one connection is resumed on another', async (t) => {
    const [first, second] = clientsOf('read') as [TestClient, TestClient]
    const { content, digest } = blobOf(Buffer.alloc(500_000, 'resumed'))
    const resourceName = `uploads/0c1e2f3a-0000-4000-8000-000000000000/blobs/${digest.hash}/${digest.sizeBytes}`
    const { call, response } = first.clientStream('google.bytestream.ByteStream/Write')
    response.catch(() => {})
    call.write({ resourceName, writeOffset: 0, data: content.subarray(0, 200_000) })
    const committedFor = (client: TestClient): Promise<number> =>
      client.unary('google.bytestream.ByteStream/QueryWriteStatus', { resourceName }).response.then(
        ({ committedSize }) => Number(committedSize),
        () => 0,
      )
    await until(async () => (await committedFor(first)) >= 200_000)
    call.cancel()
    const committed = await found(async () => (await committedFor(second)) || undefined, 'bytes that are kept')
    const resumed = second.clientStream('google.bytestream.ByteStream/Write')
    resumed.call.write({ resourceName, writeOffset: committed, data: content.subarray(committed), finishWrite: true })
    resumed.call.end()
    t.match(await resumed.response, { committedSize: content.length })
  })

  const writing = (client: TestClient, { content, digest }: ReturnType<typeof blobOf>, uuid: string) => {
    const resourceName = `uploads/${uuid}/blobs/${digest.hash}/${digest.sizeBytes}`
    const { call, response } = client.clientStream('google.bytestream.ByteStream/Write')
    response.catch(() => {})
    const piece = (from: number, to = content.length): void =>
      void call.write({
        resourceName,
        writeOffset: from,
        data: content.subarray(from, to),
        finishWrite: to === content.length,
      })
    return { call, response, piece }
  }

  t.test('an upload ends early when a call of another thread has committed its blob', async (t) => {
    const [first, second] = clientsOf('read') as [TestClient, TestClient]
    const blob = blobOf(Buffer.alloc(400_000, 'elsewhere'))
    const waiting = writing(first, blob, '00000000-0000-4000-8000-000000000001')
    waiting.piece(0, 100_000)
    await upload(second, blob)
    t.match(await waiting.response, { committedSize: blob.content.length })
  })

  t.test('uploads that are cancelled or dropped leave no file', async () => {
    const clients = clientsOf('read')
    const uploads = clients.map((client, at) =>
      writing(client, blobOf(Buffer.alloc(900_000, `left ${at}`)), `00000000-0000-4000-8000-00000000010${at}`),
    )
    for (const { piece } of uploads) piece(0, 300_000)
    await until(async () => (await tempFiles()).length === uploads.length)
    for (const { call } of uploads) call.cancel()
    // What was not finished is kept to be resumed, and dropped at the end of its time.
    await until(async () => (await tempFiles()).length === 0)
  })

  t.test('the metrics are those of all threads', async (t) => {
    const counted = async (): Promise<{ calls: number; hits: number }> => {
      const signal = AbortSignal.timeout(ANSWER_MS)
      const page = await (await fetch(`http://${addressOf('read')}/metrics`, { signal })).text()
      const sum = (pattern: RegExp): number =>
        page.split('\n').reduce((all, line) => all + (pattern.test(line) ? Number(line.split(' ').at(-1)) : 0), 0)
      return {
        calls: sum(/^svc_rpc_duration\w*_count.*rpc_method="FindMissingBlobs"/),
        hits: sum(/^svc_cache_operations_total(?=.*_name="find_missing")(?=.*_result="hit").*cache_type="CAS"/),
      }
    }
    const clients = clientsOf('read')
    const blob = blobOf(Buffer.from('counted'))
    await upload(clients[0] as TestClient, blob)
    // Those of the tests before are told within a second.
    let before = await counted()
    for (let same = 0, asked = 0; same < 15 && asked < 600; same++, asked++) {
      await pause(100)
      const now = await counted()
      if (now.calls !== before.calls) same = 0
      before = now
    }
    for (const client of clients) for (let time = 0; time < 10; time++) await missing(client, [blob.digest])
    let after = before
    await until(async () => {
      after = await counted()
      return after.calls >= before.calls + 10 * THREADS
    })
    t.equal(after.calls - before.calls, 10 * THREADS)
    t.equal(after.hits - before.hits, 10 * THREADS)
  })

  t.test('a stop lets the calls end that a thread serves', async (t) => {
    const [client] = clientsOf('read') as [TestClient]
    const blob = blobOf(Buffer.alloc(3_000_000, 'slow reader'))
    await upload(client, blob)
    const resourceName = `blobs/${blob.digest.hash}/${blob.digest.sizeBytes}`
    const stream = client.serverStream('google.bytestream.ByteStream/Read', { resourceName })
    await new Promise((resolve) => stream.once('readable', resolve))
    const closed = running.close()
    const { messages } = await collect(stream)
    t.equal(Buffer.concat(messages.map(({ data }) => data)).length, blob.content.length)
    await closed
  })
})
