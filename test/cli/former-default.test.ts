import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { collect, TestClient } from '../server/client.js'
import { buildAction, EXECUTION, responseOf } from '../service/execution-harness.js'
import { type Blob, blobOf, CAS, MIB, wire } from '../service/harness.js'
import { bytesOf } from '../store/blobs.js'
import { DEFAULT, type Program, serve } from './program.js'

/** The stores of the default configuration before it kept larger blobs as chunks. */
const FORMER = `{
  stores: {
    CAS: { fast_slow: {
      fast: { filesystem: { content_path: '\${REMEXEC_DATA}/cas/content', temp_path: '\${REMEXEC_DATA}/cas/temp' } },
      slow: { noop: {} },
    } },
    AC: { filesystem: { content_path: '\${REMEXEC_DATA}/ac/content', temp_path: '\${REMEXEC_DATA}/ac/temp' } },
  },
  servers: [{
    name: 'public',
    listener: { http: { socket_address: '127.0.0.1:0' } },
    services: { cas: [{ instance_name: '', cas_store: 'CAS' }], ac: [{ instance_name: '', ac_store: 'AC' }] },
  }],
}`

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

t.test(
  'a folder of the former default serves what it has: to readers, as inputs of an action, and in chunks',
  async (t) => {
    const data = t.testdir()
    writeFileSync(`${data}/former.json5`, FORMER)
    const [large, small] = [blobOf(bytesOf(3 * MIB, 'large')), blobOf(bytesOf(30_000, 'small'))]
    const former = serve(t, `${data}/former.json5`, data)
    await upload(await connected(t, former), [large, small])
    former.child.kill('SIGTERM')
    await former.ended

    const client = await connected(t, serve(t, DEFAULT, data))
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

    const list = await client.unary(`${CAS}/SplitBlob`, { blobDigest: wire(large.digest) }).response
    t.ok(list.chunkDigests.length > 1)
    const chunks = await Promise.all(list.chunkDigests.map((digest: ReturnType<typeof wire>) => read(client, digest)))
    t.ok(Buffer.concat(chunks).equals(large.bytes))
    t.ok((await read(client, wire(large.digest))).equals(large.bytes))
  },
)
