import { createHash } from 'node:crypto'
import t from 'tap'
import { type Asked, serveCaches } from './harness.js'

const CACHES = [
  { path: '/c', kind: 'opaque', instance_name: 'main', overlay_instance_name: 'pr' },
  { path: '/gradle', kind: 'gradle', instance_name: 'main' },
  { path: '/turbo', kind: 'turborepo', instance_name: 'main' },
]
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac']
const token = (name: string) => ({ name, sha256: createHash('sha256').update(name).digest('hex') })
const SECURITY = {
  identity: { tokens: [token('ci'), token('pull'), token('reader'), token('stranger')] },
  access: [
    { may: ALL, instances: ['main'], names: ['ci'] },
    { may: ['read_cas', 'read_ac'], instances: ['main'], names: ['pull', 'reader'] },
    { may: ALL, instances: ['pr'], names: ['pull'] },
  ],
}
const as = (name: string, body?: string): Asked => ({ headers: { authorization: `Bearer ${name}` }, body })

t.test('reading and writing need their permissions, in the words of each tool', async (t) => {
  const { ask, said } = await serveCaches(t, CACHES, { security: SECURITY })
  const anonymous = await ask('GET', '/c/k')
  t.match([anonymous.status, anonymous.headers['www-authenticate']], [401, /^Basic realm=/], 'Maven waits for this')
  t.equal((await ask('GET', '/c/k', as('nobody'))).status, 401)
  t.equal((await ask('PUT', '/c/k', as('ci', 'one'))).status, 200)
  t.equal((await ask('GET', '/c/k', as('reader'))).text, 'one')
  const basic = `Basic ${Buffer.from('any:reader').toString('base64')}`
  t.equal((await ask('GET', '/c/k', { headers: { authorization: basic } })).text, 'one')
  t.match(await ask('PUT', '/c/k', as('reader', 'two')), { status: 403, text: /token reader may not write_ac/ })
  t.equal((await ask('DELETE', '/c/k', as('reader'))).status, 403)
  t.equal((await ask('GET', '/c/k', as('stranger'))).status, 403)
  const gradle = `/gradle/${'ab'.repeat(16)}`
  t.equal((await ask('PUT', gradle, as('reader', 'x'))).status, 413, 'Gradle turns its cache off after 403')
  t.equal((await ask('GET', gradle, as('reader'))).status, 404)
  const turbo = await ask('PUT', '/turbo/v8/artifacts/0123456789abcdef', as('reader', 'x'))
  t.match([turbo.status, JSON.parse(turbo.text).error.code], [403, 'forbidden'])
  t.match(said.text, /method="PUT \/c\/k".* instance=main .*identity="token ci" cache=opaque result=stored/)
})

t.test('a pull request writes apart and reads its own before the shared', async (t) => {
  const { ask } = await serveCaches(t, CACHES, { security: SECURITY })
  await ask('PUT', '/c/shared', as('ci', 'of main'))
  t.equal((await ask('GET', '/c/shared', as('pull'))).text, 'of main')
  t.equal((await ask('PUT', '/c/shared', as('pull', 'poison'))).status, 200)
  t.equal((await ask('PUT', '/c/new', as('pull', 'of the pull request'))).status, 200)
  t.equal((await ask('GET', '/c/shared', as('pull'))).text, 'poison')
  t.equal((await ask('GET', '/c/new', as('pull'))).text, 'of the pull request')
  for (const name of ['ci', 'reader']) {
    t.equal((await ask('GET', '/c/shared', as(name))).text, 'of main')
    t.equal((await ask('GET', '/c/new', as(name))).status, 404)
  }
})
