import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { serve } from './program.js'

const { SHA256 } = digestFunctions
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')

const scheduler = `{
  stores: { CAS: { memory: { eviction_policy: { max_bytes: '10mb' } } } },
  schedulers: { S: { simple: {} } },
  servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:$REMEXEC_PORT' } }, services: {
    cas: [{ cas_store: 'CAS' }],
    execution: [{ cas_store: 'CAS', scheduler: 'S' }],
    worker_api: { scheduler: 'S' },
  } }],
}`

/** Has its own CAS, because there is no store yet that reaches the scheduler's. */
const worker = `{
  stores: { CAS: { fast_slow: {
    fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '10mb' } } },
    slow: { noop: {} },
  } } },
  workers: [{ local: {
    worker_api_endpoint: { uri: 'grpc://$SCHEDULER' }, cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    upload_action_result: { upload_ac_results_strategy: 'never' },
  } }],
  servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: { cas: [{ cas_store: 'CAS' }] } }],
}`

const bytesOf = (script: string) => {
  const command = commandCodec.encode({ arguments: ['/bin/sh', '-c', script] })
  const root = Buffer.alloc(0)
  const action = actionCodec.encode({
    commandDigest: Digest.of(command, SHA256).toMessage(),
    inputRootDigest: Digest.of(root, SHA256).toMessage(),
  })
  return { action, blobs: [command, root, action] }
}

t.test('a worker accepts actions again after a clean restart of its scheduler', async (t) => {
  const data = t.testdir({ 's.json5': scheduler, 'w.json5': worker, s: {}, w: {} })
  let server = serve(t, `${data}/s.json5`, `${data}/s`)
  const [, port = ''] = await server.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)/)
  const remote = serve(t, `${data}/w.json5`, `${data}/w`, { SCHEDULER: `127.0.0.1:${port}` })
  const [, workerPort] = await remote.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)/)
  await remote.hears(/connected to the scheduler/)

  const execute = async (script: string): Promise<unknown> => {
    const { action, blobs } = bytesOf(script)
    const requests = blobs.map((bytes) => ({ digest: Digest.of(bytes, SHA256).toMessage(), data: bytes }))
    for (const address of [`127.0.0.1:${port}`, `127.0.0.1:${workerPort}`]) {
      const client = new TestClient(address)
      await client.unary('build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs', { requests })
        .response
      client.client.close()
    }
    const client = new TestClient(`127.0.0.1:${port}`)
    let last: { readonly response?: { readonly value: Buffer } } = {}
    const actionDigest = Digest.of(action, SHA256).toMessage()
    for await (const operation of client.serverStream('build.bazel.remote.execution.v2.Execution/Execute', {
      actionDigest,
    })) {
      last = operation
    }
    client.client.close()
    return responseCodec.decode(last.response?.value ?? Buffer.alloc(0))
  }

  t.match(await execute('exit 3'), { result: { exitCode: 3 } })
  server.child.kill('SIGTERM')
  await server.ended
  server = serve(t, `${data}/s.json5`, `${data}/s`, { REMEXEC_PORT: port })
  await server.hears(/a worker connected/)
  t.match(await execute('exit 4'), { status: null, result: { exitCode: 4 } })
})
