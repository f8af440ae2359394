/** Two tenants and an operator at every address of the pages: nobody sees, or can find out about, what is not his. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bearer } from '../security/server.js'
import { startPages, textIn } from './harness.js'
import { authorized, MARK, security, startTenants as start } from './tenants-fixture.js'

t.test('what one tenant has, another one finds at no address, and strangers have to log in', async (t) => {
  const { get, own } = await start(t)
  for (const address of own) {
    const status = address.startsWith('/a/') ? 302 : 200
    t.equal((await get(address, authorized('ann'))).answer.status, status, `ann: ${address}`)
    for (const name of ['bob', 'olga']) {
      const { answer, text } = await get(address, authorized(name))
      t.equal(answer.status, 404, `${name}: ${address}`)
      // The address itself is repeated in no other words than for what does not exist.
      t.notMatch(textIn(text).replaceAll(/(invocation|before|build)[ -]\S*/g, ''), MARK, `${name}: ${address}`)
    }
    t.equal((await get(address)).answer.status, 401, `a stranger: ${address}`)
  }
})

/** The same address with ids that nobody has. */
const unknownOf = (address: string): string =>
  address
    .replaceAll(/[0-9a-f]{12,64}/g, (hash) => '0'.repeat(hash.length))
    .replaceAll(/(build|before)-of-ann/g, 'no-such')

t.test('as JSON too, what belongs to another tenant looks as if it did not exist', async (t) => {
  const { get, own } = await start(t)
  const programs = { accept: 'application/json' }
  const said = async (address: string, name: string) => {
    const { answer, text } = await get(address, { ...programs, ...authorized(name) })
    return { status: answer.status, text: unknownOf(text).replaceAll('\\u0000', '') }
  }
  for (const address of own)
    for (const name of ['bob', 'olga']) {
      const [others, unknown] = [await said(address, name), await said(unknownOf(address), name)]
      t.same(others, unknown, `${name}: ${address}`)
      t.equal(others.status, 404, `${name}: ${address}`)
    }
  for (const list of [
    '/builds',
    '/?q=of-ann',
    '/tests',
    '/trends',
    '/queue',
    '/queue?show=waiting',
    '/queue?show=failed',
  ])
    t.notMatch((await said(list, 'bob')).text, MARK, list)
})

/** Pages about no single tenant, and about the process. */
const OTHERS = ['/', '/builds', '/tests', '/trends', '/queue', '/workers', '/sizes', '/stores', '/server', '/scopes']

t.test('these tests know every page', async (t) => {
  const { own } = await start(t)
  const sources = await readdir('src/pages', { recursive: true })
  const texts = await Promise.all(
    sources.filter((name) => /\.tsx?$/.test(name)).map((name) => readFile(join('src/pages', name), 'utf8')),
  )
  const all = texts.join('\n')
  const addresses = [...own, ...OTHERS].map((address) => decodeURIComponent(address.replace(/\?.*/, '').slice(1)))
  const patterns = [...all.matchAll(/address: \/(.+)\/(s?),/g)].map(([, text = '', flags]) => new RegExp(text, flags))
  t.ok(patterns.length > 10, `${patterns.length} pages`)
  for (const pattern of patterns)
    t.ok(
      addresses.some((address) => pattern.test(address)),
      String(pattern),
    )
  const tabs = [...all.matchAll(/^ {2}address: '(\w+)',\n {2}title/gm)].map(([, name = '']) => name)
  t.ok(tabs.length > 6, `${tabs.length} tabs`)
  for (const tab of tabs) t.ok(addresses.includes(`invocation/build-${MARK}/${tab}`), tab)
})

t.test('lists have what the reader may see, and no more', async (t) => {
  const { get } = await start(t)
  for (const address of ['/', '/?q=of-ann', '/queue', '/queue?show=waiting', '/queue?show=failed']) {
    for (const headers of [authorized('bob'), {}]) {
      const { answer, text } = await get(address, headers)
      t.equal(answer.status, 200, address)
      t.notMatch(text.replaceAll(/value="of-ann"|q(=|%3D)of-ann/g, ''), MARK, address)
    }
  }
  t.match((await get('/', authorized('ann'))).text, MARK)
  t.match(textIn((await get('/queue', authorized('ann'))).text), /\/\/of-ann .* token ann/)
  t.match((await get('/queue?show=waiting', authorized('ann'))).text, MARK)
  // An operator sees what runs, to find out why others wait; its content and its builds are not for him.
  t.match((await get('/queue', authorized('olga'))).text, MARK)
  t.notMatch((await get('/', authorized('olga'))).text, MARK)
})

t.test('pages about the process are for operators', async (t) => {
  const { get, origin } = await start(t)
  for (const address of ['/workers', '/stores', '/server']) {
    t.equal((await get(address, authorized('olga'))).answer.status, 200, address)
    const refused = await get(address, authorized('ann'))
    t.equal(refused.answer.status, 403, address)
    t.notMatch(refused.text, `href="${address}"`, 'no menu leads there')
    t.equal((await get(address)).answer.status, 401, address)
  }
  const drain = await fetch(`${origin}/admin/form/drain?scheduler=S&worker=w`, {
    method: 'POST',
    headers: authorized('ann'),
  })
  t.equal(drain.status, 403)
})

t.test('lifecycle events of one tenant do not remove the finished build of another', async (t) => {
  const services = { build_events: { path: t.testdir(), max_invocations: 50 } }
  const { client, get } = await startPages(t, { security, services })
  const lifecycle = (name: string, projectId: string, invocationId: string, event: object) =>
    client.unary(
      'google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent',
      { projectId, buildEvent: { streamId: { buildId: 'b', invocationId }, sequenceNumber: 1, event } },
      { metadata: bearer(`token-of-${name}`) },
    ).response
  await lifecycle('ann', 'main', MARK, { invocationAttemptStarted: { attemptNumber: 1 } })
  t.equal((await get(`/invocation/${MARK}`, authorized('ann'))).answer.status, 200, 'before')
  for (let at = 0; at < 3000; at += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, one) =>
        lifecycle('bob', 'other', `flood-${at + one}`, { invocationAttemptStarted: {} }),
      ),
    )
  t.equal((await get(`/invocation/${MARK}`, authorized('ann'))).answer.status, 200)
  t.equal((await get('/invocation/flood-0', authorized('bob'))).answer.status, 404, 'the flood removed its own')
})
