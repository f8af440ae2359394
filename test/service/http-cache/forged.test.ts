import { createHash } from 'node:crypto'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { TestClient } from '../../server/client.js'
import { type CacheConfig, serveCaches } from './harness.js'

const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac']
const token = (name: string) => ({ name, sha256: createHash('sha256').update(name).digest('hex') })
const SECURITY = {
  identity: { tokens: [token('ci'), token('pull')] },
  access: [
    { may: ALL, instances: ['main'], names: ['ci'] },
    { may: ['read_cas', 'read_ac'], instances: ['main'], names: ['pull'] },
    { may: ALL, instances: ['pr'], names: ['pull'] },
  ],
}
const cachesFor = (isSecure: boolean) => [
  { path: '/files', kind: 'opaque', instance_name: 'main', ...(isSecure && { overlay_instance_name: 'pr' }) },
  { path: '/turbo', kind: 'turborepo', instance_name: 'main' },
]
const HEADERS = 'type.googleapis.com/remexec.http.Headers'

/** A server, and a client of its action cache. */
const served = async (t: Test, more: CacheConfig = {}) => {
  const caches = await serveCaches(t, cachesFor(more.security !== undefined), more)
  const client = new TestClient(caches.grpc)
  t.teardown(() => client.close())
  const call = (method: string, name: string, instanceName: string, about: object) => {
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${name}`)
    const request = { instanceName, ...about }
    return client.unary(`build.bazel.remote.execution.v2.ActionCache/${method}`, request, { metadata }).response
  }
  const get = (path: string, name: string) => caches.ask('GET', path, { headers: { authorization: `Bearer ${name}` } })
  return { ...caches, call, get }
}

/** The key of an entry as version 1 made it: everybody can compute it. */
const olderKey = (...parts: string[]) => {
  const text = ['http-entry/1', ...parts].join('\0')
  return { hash: createHash('sha256').update(text).digest('hex'), sizeBytes: Buffer.byteLength(text) }
}

const withHeaders = (body: string, headers: object) => ({
  stdoutRaw: Buffer.from(body),
  executionMetadata: {
    auxiliaryMetadata: [{ typeUrl: HEADERS, value: Buffer.from(JSON.stringify(headers)) }],
  },
})

t.test(
  'a pull request that may write results of its own instance does not change what an HTTP cache of main serves',
  async (t) => {
    const { call, get } = await served(t, { security: SECURITY })
    const actionDigest = olderKey('main', '/files', 'some/key')
    const actionResult = { stdoutRaw: Buffer.from('poison') }
    await t.rejects(call('UpdateActionResult', 'pull', 'main', { actionDigest, actionResult }), { code: 7 })
    await call('UpdateActionResult', 'pull', 'pr', { actionDigest, actionResult })
    for (const name of ['ci', 'pull']) t.equal((await get('/files/some/key', name)).status, 404, name)
  },
)

t.test(
  'the entry of an HTTP cache is no result of an action, whatever digest and function a client of gRPC names',
  async (t) => {
    const { ask, call, get } = await served(t, { security: SECURITY })
    const headers = { authorization: 'Bearer ci' }
    await ask('PUT', '/files/some/key', { headers, body: 'right' })
    const actionDigest = olderKey('main', '/files', 'some/key')
    for (const digestFunction of [0, 1, 9, 241, 242, 243]) {
      const about = { actionDigest, digestFunction }
      await t.rejects(call('GetActionResult', 'ci', 'main', about), { code: digestFunction > 9 ? 3 : 5 })
    }
    for (const digestFunction of [0, 1, 9, 241, 242, 243]) {
      const about = { actionDigest, digestFunction, actionResult: { stdoutRaw: Buffer.from('poison') } }
      await call('UpdateActionResult', 'ci', 'main', about).catch(() => {})
    }
    t.equal((await get('/files/some/key', 'ci')).text, 'right')
  },
)

t.test(
  'without security, what a client put under the key of an older entry brings no header into an answer',
  async (t) => {
    const { call, get, ask } = await served(t)
    const forged = {
      ...{ 'content-type': 'text/html', 'set-cookie': 'session=chosen', 'content-length': '1' },
      ...{
        'transfer-encoding': 'chunked',
        'content-security-policy': 'script-src *',
        'x y': 1,
        'x-artifact-tag': 'a\r\nx-b: c',
      },
    }
    const put = (key: string[], actionResult: object) =>
      call('UpdateActionResult', 'ci', 'main', { actionDigest: olderKey(...key), actionResult })
    await put(['main', '/files', 'some/key'], withHeaders('body', forged))
    const plain = await get('/files/some/key', 'ci')
    t.match([plain.status, plain.text, plain.headers['content-type']], [200, 'body', 'application/octet-stream'])
    for (const name of ['set-cookie', 'transfer-encoding', 'x-artifact-tag', 'x-b'])
      t.notOk(name in plain.headers, name)
    t.notMatch(plain.headers['content-security-policy'] ?? '', /script-src/)
    const hash = '0123456789abcdef'
    await put(['main', '/turbo', '[null,null]', hash], withHeaders('body', { ...forged, 'x-artifact-duration': '5' }))
    const turbo = await ask('GET', `/turbo/v8/artifacts/${hash}`)
    t.match([turbo.status, turbo.text, turbo.headers['x-artifact-duration']], [200, 'body', '5'])
    t.notOk('x-artifact-tag' in turbo.headers, 'a tag that is no header')
    t.notOk('set-cookie' in turbo.headers)
  },
)

t.test('an entry of an older version is read until it is written again, if there is no security', async (t) => {
  const { call, get, ask } = await served(t)
  const actionDigest = olderKey('main', '/files', 'some/key')
  await call('UpdateActionResult', 'ci', 'main', { actionDigest, actionResult: { stdoutRaw: Buffer.from('older') } })
  t.equal((await get('/files/some/key', 'ci')).text, 'older')
  await ask('PUT', '/files/some/key', { body: 'newer' })
  t.equal((await get('/files/some/key', 'ci')).text, 'newer')
  await ask('DELETE', '/files/some/key')
  t.equal((await get('/files/some/key', 'ci')).status, 404, 'removed in both forms')
})
