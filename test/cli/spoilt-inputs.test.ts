import t, { type Test } from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { drawnBytes } from '../drawn.js'
import { TestClient } from '../server/client.js'
import { actionCodec, commandCodec, directoryCodec, EXECUTION, responseOf } from '../service/execution-harness.js'
import { CAS, SHA256, wire } from '../service/harness.js'
import { serve } from './program.js'

t.setTimeout(600_000)

const DEDUP = 'fixtures/configs/chunks.json5'

const FILES = `{
  stores: {
    CAS: { fast_slow: {
      fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '1gb' } } },
      slow: { noop: {} },
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
  } }],
}`

const upload = async (client: TestClient, ...blobs: readonly Buffer[]): Promise<readonly Digest[]> => {
  for (const data of blobs) {
    const requests = [{ digest: wire(Digest.of(data, SHA256)), data }]
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
    if (responses.some(({ status }: { status: { code: number } | null }) => (status?.code ?? 0) !== 0))
      throw new Error('a blob was not taken')
  }
  return blobs.map((data) => Digest.of(data, SHA256))
}

const execute = async (client: TestClient, script: string, input: Digest, isExecutable: boolean) => {
  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: process.env['PATH'] ?? '' }],
  })
  const root = directoryCodec.encode({ files: [{ name: 'in', digest: input.toMessage(), isExecutable }] })
  const [commandDigest, inputRootDigest] = [command, root].map((bytes) => Digest.of(bytes, SHA256).toMessage())
  const action = actionCodec.encode({ commandDigest: commandDigest ?? null, inputRootDigest: inputRootDigest ?? null })
  await upload(client, command, root, action)
  let last: Parameters<typeof responseOf>[0] | undefined
  const request = { actionDigest: wire(Digest.of(action, SHA256)) }
  for await (const operation of client.serverStream(`${EXECUTION}/Execute`, request)) last = operation as typeof last
  if (last === undefined) throw new Error('no operation')
  return responseOf(last)
}

const tryStore = async (t: Test, name: string, config: string | undefined): Promise<void> => {
  const folder = t.testdir({ 'c.json5': config ?? '', data: {} })
  const env = { REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
  const server = serve(t, config === undefined ? DEDUP : `${folder}/c.json5`, `${folder}/data`, env)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  await server.hears(/connected to the scheduler/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const isRoot = process.geteuid?.() === 0
  for (const isExecutable of [true, false]) {
    for (const sizeBytes of [300_000, 3_000_000]) {
      // A plain file can be changed by its owner too, who has to mean it. A command of root does not notice that it is read-only.
      if (!isExecutable && !isRoot) continue
      const bytes = drawnBytes(sizeBytes)
      const [input] = await upload(client, bytes)
      if (input === undefined) throw new Error('no input')
      const script = 'chmod u+w in; echo more >> in; wc -c < in'
      const what = `${name}: ${isExecutable ? 'an executable' : 'a plain file'} of ${sizeBytes} bytes`
      const { status, result } = await execute(client, script, input, isExecutable)
      t.equal(status?.code ?? 0, 0, `${what}: ${status?.message ?? 'runs'}`)
      t.equal(result?.exitCode, 0)
      const asked = { blobDigests: [wire(input)] }
      const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, asked).response
      t.same(missingBlobDigests, [], `${what} is still there`)
      const other = await execute(client, 'sha256sum < in', input, isExecutable)
      t.equal(
        other.result?.stdoutDigest?.hash,
        SHA256.hash(Buffer.from(`${input.hash}  -\n`)),
        'the next action has it',
      )
    }
  }
}

t.test('an action that writes to its only input does not cost the store the blob', async (t) => {
  await tryStore(t, 'dedup', undefined)
  await tryStore(t, 'filesystem without a slow store', FILES)
})
