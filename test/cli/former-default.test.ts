import { existsSync, rmSync } from 'node:fs'
import t, { type Test } from 'tap'
import { collect, TestClient } from '../server/client.js'
import { buildAction, EXECUTION, responseOf } from '../service/execution-harness.js'
import { type Blob, blobOf, CAPABILITIES, CAS, MIB, wire } from '../service/harness.js'
import { bytesOf } from '../store/blobs.js'
import { DEFAULT, type Program, serve } from './program.js'

/** The default configuration of 0.2.0, which keeps larger blobs as chunks. */
const CHUNKS = 'fixtures/configs/chunks.json5'

const connected = async (t: Test, { hears }: Program): Promise<TestClient> => {
  const [, address = ''] = await hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  return client
}

const upload = async (client: TestClient, blobs: readonly Blob[]): Promise<void> => {
  const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  for (const { status } of responses) if (status?.code) throw new Error(status.message)
}

const missing = async (client: TestClient, blobs: readonly Blob[]): Promise<number> => {
  const blobDigests = blobs.map(({ digest }) => wire(digest))
  return (await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests }).response).missingBlobDigests.length
}

const read = async (client: TestClient, digest: ReturnType<typeof wire>): Promise<Buffer> => {
  const { responses } = await client.unary(`${CAS}/BatchReadBlobs`, { digests: [digest] }).response
  return responses[0]?.data ?? Buffer.alloc(0)
}

const [large, small] = [blobOf(bytesOf(3 * MIB, 'large')), blobOf(bytesOf(30_000, 'small'))]

const stopped = async ({ child, ended }: Program): Promise<void> => {
  child.kill('SIGTERM')
  await ended
}

/** To readers, as inputs of an action, and in chunks. */
const servesBoth = async (t: Test, client: TestClient): Promise<void> => {
  t.equal(await missing(client, [large, small]), 0)
  for (const { digest, bytes } of [large, small]) t.ok((await read(client, wire(digest))).equals(bytes))

  const files = [large, small].map(({ digest }, at) => ({ name: `in${at}`, digest: wire(digest) }))
  const { root, command, action } = buildAction({
    command: { arguments: ['sh', '-c', 'cat in1 in0 > out'], outputPaths: ['out'] },
    root: { files },
  })
  await upload(client, [root, command, action])
  const ended = await collect(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(action.digest) }))
  const { result } = responseOf(ended.messages.at(-1))
  const output = result?.outputFiles[0]?.digest
  t.ok(output && (await read(client, output)).equals(Buffer.concat([small.bytes, large.bytes])))
  await splits(t, client)
}

const splits = async (t: Test, client: TestClient): Promise<void> => {
  const { cacheCapabilities } = await client.unary(`${CAPABILITIES}/GetCapabilities`, {}).response
  t.match(cacheCapabilities, { splitBlobSupport: true, spliceBlobSupport: true }, 'clients are told')
  const list = await client.unary(`${CAS}/SplitBlob`, { blobDigest: wire(large.digest) }).response
  t.ok(list.chunkDigests.length > 1)
  const chunks = await Promise.all(list.chunkDigests.map((digest: ReturnType<typeof wire>) => read(client, digest)))
  t.ok(Buffer.concat(chunks).equals(large.bytes))
  t.ok((await read(client, wire(large.digest))).equals(large.bytes))
  const splice = { blobDigest: wire(large.digest), chunkDigests: list.chunkDigests }
  t.match(await client.unary(`${CAS}/SpliceBlob`, splice).response, { blobDigest: { hash: large.digest.hash } })
}

const STAYS = /cas\/lists has the lists of larger blobs that an older release kept as chunks: this store stays a dedup/

t.test(
  'a folder with larger blobs as chunks, as 0.2.0 wrote it, loses none under the default configuration',
  async (t) => {
    const data = t.testdir()
    const former = serve(t, CHUNKS, data)
    await upload(await connected(t, former), [large, small])
    await stopped(former)

    const kept = serve(t, DEFAULT, data)
    await servesBoth(t, await connected(t, kept))
    t.match(kept.said(), STAYS, 'the start says why')
    await stopped(kept)

    // As the warning says.
    for (const folder of ['lists', 'whole']) rmSync(`${data}/cas/${folder}`, { recursive: true })
    const plain = serve(t, DEFAULT, data)
    const client = await connected(t, plain)
    t.notMatch(plain.said(), STAYS)
    t.equal(await missing(client, [small]), 0, 'blobs of chunk size stay')
    t.equal(await missing(client, [large]), 1)
    await upload(client, [large])
    await servesBoth(t, client)
  },
)

t.test('a folder of the default configuration is served by that of 0.2.0, which keeps chunks', async (t) => {
  const data = t.testdir()
  const plain = serve(t, DEFAULT, data)
  const client = await connected(t, plain)
  await upload(client, [large, small])
  await splits(t, client)
  await stopped(plain)
  t.notOk(existsSync(`${data}/cas/lists`), 'it has no folder of lists, so the next start is a plain one too')
  await servesBoth(t, await connected(t, serve(t, CHUNKS, data)))
})
