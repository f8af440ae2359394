import t from 'tap'
import { getBytes, putBytes } from '../../../../src/blobs/store.js'
import { codec } from '../../../../src/proto/codec.js'
import { Authority } from '../../../tls/authority.js'
import { call, digestOf } from '../../blobs.js'
import { freePorts } from '../../remote/backend.js'
import { endpoint, openGrpcStore, startRemexec } from '../grpc/remexec.js'
import { startRedis, withoutRedis } from './redis.js'

const results = codec('build.bazel.remote.execution.v2.ActionResult')

void t.test('Redis over TLS, with an authority in NODE_EXTRA_CA_CERTS', { skip: withoutRedis }, async (t) => {
  const authority = new Authority(t.testdir())
  const { certFile, keyFile } = authority.issue('redis')
  const [port = 0] = await freePorts(1)
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', authority.caFile]
  await startRedis(t, ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', ...files])
  const stores = { AC: { redis_store: { addresses: [`rediss://127.0.0.1:${port}`], retry: { max_retries: 0 } } } }
  const actionCacheOf = async (env: Readonly<Record<string, string>>) => {
    const server = await startRemexec(t, { stores, env })
    return (await openGrpcStore(t, { endpoints: [endpoint(server.port)], store_type: 'ac' })).store
  }
  const action = digestOf(Buffer.from('an action')).asKey()
  const result = results.encode({ exitCode: 0, stdoutRaw: Buffer.from('said') })
  const trusting = await actionCacheOf({ NODE_EXTRA_CA_CERTS: authority.caFile })
  await putBytes(trusting, action, result, call)
  t.equal(results.decode(await getBytes(trusting, action, 10_000, call)).stdoutRaw.toString(), 'said')
  const wary = await actionCacheOf({})
  await t.rejects(putBytes(wary, action, result, call), { code: 14, message: /certificate is not trusted/ })
})
