import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { serve } from '../cli/program.js'
import { drawnBytes } from '../drawn.js'
import { collect, TestClient } from '../server/client.js'
import { messagesOf, uploadName, write } from './bytestream-client.js'
import { actionCodec, commandCodec, directoryCodec, EXECUTION, responseOf } from './execution-harness.js'
import { BYTE_STREAM, CAS, wire } from './harness.js'

t.setTimeout(600_000)

const { GITSHA1 } = digestFunctions
const FETCH = 'build.bazel.remote.asset.v1.Fetch'
const asked = { digestFunction: GITSHA1.value }

const config = `{
  global: { digest_functions: ['SHA256', 'GITSHA1'] },
  stores: {
    CAS: { fast_slow: {
      fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '1gb' } } },
      slow: { verify: { verify_size: true, verify_hash: true, backend: { memory: { eviction_policy: { max_bytes: '1gb' } } } } },
    } },
    AC: { memory: { eviction_policy: { max_bytes: '10mb' } } },
  },
  schedulers: { S: { simple: {} } },
  workers: [{ local: {
    worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    upload_action_result: { ac_store: 'AC' },
  } }],
  servers: [{ name: 'public', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
    cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }],
    fetch: [{ fetch_store: 'AC', download: { allow: ['127.0.0.1'], allow_addresses: ['127.0.0.1'], ports: [ORIGIN] } }],
  } }],
}`

const gitName = (folder: string, bytes: Buffer): string => {
  writeFileSync(join(folder, 'file'), bytes)
  return execFileSync('git', ['hash-object', join(folder, 'file')], { encoding: 'utf8' }).trim()
}

t.test('GITSHA1 is served by every method that moves blobs, and by workers', async (t) => {
  const content = drawnBytes(200_000)
  const origin = createServer((_request, response) => {
    // Without a length.
    response.write(content.subarray(0, 1000))
    response.end(content.subarray(1000))
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  t.teardown(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const folder = t.testdir({ 'c.json5': config.replace('ORIGIN', String(port)), data: {} })
  const server = serve(t, `${folder}/c.json5`, `${folder}/data`)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  await server.hears(/connected to the scheduler/)
  const client = new TestClient(address)
  t.teardown(() => client.close())

  const batch = async (bytes: Buffer, digest = Digest.of(bytes, GITSHA1)) => {
    const request = { ...asked, requests: [{ digest: wire(digest), data: bytes }] }
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, request).response
    return responses[0].status?.code ?? 0
  }
  const missing = async (...digests: readonly Digest[]) =>
    (await client.unary(`${CAS}/FindMissingBlobs`, { ...asked, blobDigests: digests.map(wire) }).response)
      .missingBlobDigests.length

  const [small, large] = [drawnBytes(1000), drawnBytes(700_000)]
  const [smallDigest, largeDigest] = [Digest.of(small, GITSHA1), Digest.of(large, GITSHA1)]
  t.equal(smallDigest.hash, gitName(folder, small), 'as git hash-object names it')
  t.equal(await missing(smallDigest, largeDigest), 2)
  t.equal(await batch(small), 0)
  const sha1 = Digest.parse({ hash: digestFunctions.SHA1.hash(small), sizeBytes: small.length }, GITSHA1)
  t.equal(await batch(small, sha1), 3, 'a SHA1 of the content alone is another name')
  t.match(await write(client, messagesOf(uploadName(largeDigest), large)), { committedSize: large.length })
  t.match(uploadName(largeDigest), /\/blobs\/gitsha1\//)
  const wrong = Digest.of(drawnBytes(700_000), GITSHA1)
  await t.rejects(write(client, messagesOf(uploadName(wrong), large)), { code: 3 }, 'other bytes')
  t.equal(await missing(smallDigest, largeDigest, wrong), 1)

  const read = await client.unary(`${CAS}/BatchReadBlobs`, { ...asked, digests: [wire(smallDigest)] }).response
  t.ok(read.responses[0].data.equals(small))
  const stream = client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: formatReadName('', largeDigest) })
  const { messages } = await collect(stream)
  t.ok(Buffer.concat((messages as { data: Buffer }[]).map(({ data }) => data)).equals(large))

  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', 'cat in in > out; echo done'],
    environmentVariables: [{ name: 'PATH', value: process.env['PATH'] ?? '' }],
    outputPaths: ['out'],
  })
  const root = directoryCodec.encode({ files: [{ name: 'in', digest: largeDigest.toMessage() }] })
  const [commandDigest, inputRootDigest] = [command, root].map((bytes) => Digest.of(bytes, GITSHA1).toMessage())
  const action = actionCodec.encode({ commandDigest: commandDigest ?? null, inputRootDigest: inputRootDigest ?? null })
  for (const bytes of [command, root, action]) t.equal(await batch(bytes), 0)
  const run = client.serverStream(`${EXECUTION}/Execute`, { ...asked, actionDigest: wire(Digest.of(action, GITSHA1)) })
  const { messages: states } = await collect(run)
  const { result, status } = responseOf(states.at(-1) as Parameters<typeof responseOf>[0])
  t.equal(status?.code ?? 0, 0, status?.message ?? 'it ran')
  const [output] = result?.outputFiles ?? []
  t.match(output?.digest, { hash: gitName(folder, Buffer.concat([large, large])), sizeBytes: 1_400_000 })
  t.equal(result?.stdoutDigest?.hash, gitName(folder, Buffer.from('done\n')))
  t.equal(await missing(Digest.parse(output?.digest, GITSHA1)), 0)

  const fetched = client.unary(`${FETCH}/FetchBlob`, { ...asked, uris: [`http://127.0.0.1:${port}/file`] }).response
  const failure = await fetched.then(String, String)
  t.match(failure, /GITSHA1 hashes the length of a blob before its content/, 'its length is not known')
})
