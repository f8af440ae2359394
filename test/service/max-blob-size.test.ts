import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { TestClient } from '../server/client.js'
import { messagesOf, uploadName, write } from './bytestream-client.js'
import { type Blob, blobOf, CAPABILITIES, CAS, failure, randomBlob, wire } from './harness.js'

const MOST_BYTES = 1000
const memory = { memory: { eviction_policy: { max_bytes: '1mb' } } }

/** An instance with a limit beside one without, over the same store. */
const config = {
  stores: { CAS: memory, CHUNKS: memory },
  instances: { small: { max_blob_size: '1kb' } },
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: Object.fromEntries(
          ['small', 'any'].map((name) => [
            name,
            { cas_store: 'CAS', experimental_chunking: { index_store: 'CHUNKS' } },
          ]),
        ),
      },
    },
  ],
}

const start = async (t: Test): Promise<TestClient> => {
  const { config: parsed, problems } = parseConfig(JSON.stringify(config), 'test.json', { env: {} })
  if (parsed === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(parsed, { clock: systemClock, log: silentLog })
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(async () => {
    client.close()
    await running.close()
  })
  return client
}

t.test('max_blob_size', async (t) => {
  const client = await start(t)
  const fitting = randomBlob(MOST_BYTES)
  const large = randomBlob(MOST_BYTES + 1)

  const writing = (instanceName: string, blob: Blob) =>
    failure(write(client, messagesOf(uploadName(blob.digest, { instanceName }), blob.bytes)))
  const updating = async (instanceName: string, ...blobs: readonly Blob[]): Promise<number[]> => {
    const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName, requests }).response
    return responses.map(({ status }: { status?: { code: number } }) => status?.code ?? 0)
  }
  const announced = async (instanceName: string): Promise<number> => {
    const { cacheCapabilities } = await client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response
    return Number(cacheCapabilities.maxCasBlobSizeBytes)
  }

  t.test('is announced for its instance alone', async (t) => {
    t.equal(await announced('small'), MOST_BYTES)
    t.equal(await announced('any'), 0)
  })

  t.test('Write takes a blob of that size, and refuses a larger one before its content', async (t) => {
    t.match(await writing('small', fitting), { code: 'OK' })
    t.match(await writing('small', large), { code: 'INVALID_ARGUMENT', message: /larger than .* at most 1000 bytes/ })
    t.match(await writing('any', large), { code: 'OK' }, 'the other instance takes it')
  })

  t.test('BatchUpdateBlobs refuses only the entry that is too large', async (t) => {
    t.same(await updating('small', randomBlob(MOST_BYTES), randomBlob(MOST_BYTES + 1), randomBlob(1)), [0, 3, 0])
  })

  t.test('SpliceBlob joins no chunks into a blob that is too large', async (t) => {
    const chunks = [randomBlob(MOST_BYTES), randomBlob(MOST_BYTES)]
    await updating('small', ...chunks)
    const whole = blobOf(Buffer.concat(chunks.map(({ bytes }) => bytes)))
    const request = { blobDigest: wire(whole.digest), chunkDigests: chunks.map(({ digest }) => wire(digest)) }
    const splice = (instanceName: string) =>
      failure(client.unary(`${CAS}/SpliceBlob`, { ...request, instanceName }).response)
    t.match(await splice('small'), { code: 'INVALID_ARGUMENT', message: /max_blob_size/ })
    t.match(await splice('any'), { code: 'OK' })
  })
})
