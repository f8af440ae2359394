/** The pages of an assembled server: who sees what, how a reader logs in, and what a page may do. */
import { createHash } from 'node:crypto'
import { get as httpGet } from 'node:http'
import t from 'tap'
import { bazel } from '../builds/harness.js'
import { type GivenInvocation, rowsIn, startPages, textIn } from './harness.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const security = {
  identity: { tokens: ['ann', 'bob'].map((name) => ({ name, sha256: sha256(`token-of-${name}`) })) },
  access: [
    { names: ['ann'], may: ['read_ac', 'administer'], instances: ['main'] },
    { names: ['bob'], may: ['read_ac'], instances: ['other'] },
  ],
}

const invocation = (id: string, instance: string, command = 'build'): GivenInvocation => ({
  ...{ id, instance },
  events: [
    bazel({ started: { command, buildToolVersion: '7.7.1' } }),
    bazel({ finished: { exitCode: { code: 0, name: 'SUCCESS' } } }),
  ],
})

const invocations = [invocation('in-main', 'main'), invocation('in-other', 'other', 'test')]
const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })

t.test('a reader sees the builds of the instances that he may read', async (t) => {
  const { get } = await startPages(t, { security, invocations })
  const ann = await get('/', as('ann'))
  t.equal(ann.answer.status, 200)
  t.match(rowsIn(ann.text), [[/Outcome/], [/✓ succeeded/, 'build']])
  t.equal(rowsIn(ann.text).length, 2)
  t.match(rowsIn((await get('/', as('bob'))).text), [[/Outcome/], [/succeeded/, 'test']])
  t.match(textIn((await get('/')).text), 'Log in to see builds', 'without credentials')
})

t.test('what is no page says so as a page, and pages load nothing and run nothing from elsewhere', async (t) => {
  const { get } = await startPages(t)
  for (const [path, status] of [
    ['/', 200],
    ['/nowhere', 404],
    ['/%', 400],
  ] as const) {
    const { answer, text } = await get(path)
    t.equal(answer.status, status, path)
    t.match(answer.headers.get('content-type'), 'text/html')
    t.match(
      answer.headers.get('content-security-policy'),
      /^default-src 'none'; style-src 'sha256-[^']*'; script-src 'sha256-/,
    )
    t.notMatch(answer.headers.get('content-security-policy'), /unsafe/)
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.equal(answer.headers.get('cache-control'), 'private, no-store')
    for (const [kind, tag] of [
      ['style', 'style'],
      ['script', 'script type="module"'],
    ]) {
      const [, inner = ''] = new RegExp(`<${tag}>(.*?)</${kind}>`, 's').exec(text) ?? []
      const hash = createHash('sha256').update(inner).digest('base64')
      t.match(answer.headers.get('content-security-policy'), `${kind}-src 'sha256-${hash}'`)
    }
  }
})

t.test('a reader logs in by the form, stays so by a cookie that no other site sends, and logs out', async (t) => {
  const { get, origin } = await startPages(t, { security, invocations })
  const post = (path: string, fields: Record<string, string>, headers: object = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
      headers: { ...headers },
    })
  const refused = await get('/server')
  t.equal(refused.answer.status, 401)
  t.match(refused.text, 'name="back" value="/server"')

  t.match(await post('/login', { secret: 'token-of-ann', back: '/' }, { 'sec-fetch-site': 'cross-site' }), {
    status: 403,
  })
  const wrong = await post('/login', { secret: 'token-of-eve', back: '/' })
  t.equal(wrong.status, 401)
  t.match(textIn(await wrong.text()), 'not known here')
  t.equal(wrong.headers.get('set-cookie'), null)

  for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\r\nb']) {
    const answer = await post('/login', { secret: 'token-of-ann', back })
    t.equal(answer.headers.get('location'), '/', back)
  }
  // A token is also taken as a password, as tools do that know names and passwords only.
  for (const name of ['', 'anything']) {
    const answer = await post('/login', { name, secret: 'token-of-ann', back: '/server' })
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/server')
    const set = answer.headers.get('set-cookie') ?? ''
    t.match(set, /^remexec=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    const cookie = set.split(';')[0] ?? ''
    const page = await get('/', { cookie })
    t.match(textIn(page.text), /token ann Log out/)
    t.equal(rowsIn(page.text).length, 2)
    t.equal((await get('/server', { cookie })).answer.status, 200, 'the status page')
    t.equal((await get('/admin/', { cookie })).answer.status, 404)

    t.equal((await post('/logout', {}, { cookie, 'sec-fetch-site': 'cross-site' })).status, 403)
    t.equal((await post('/logout', {}, { cookie })).status, 303)
    t.match(textIn((await get('/', { cookie })).text), 'Log in to see builds', 'the cookie is worth nothing now')
  }
})

t.test('a session ends after its time, and with the token that began it', async (t) => {
  const { get, origin, clock } = await startPages(t, { security, invocations, pages: { session_s: 60 } })
  const answer = await fetch(`${origin}/login`, {
    ...{ method: 'POST', redirect: 'manual' },
    body: new URLSearchParams({ secret: 'token-of-ann' }),
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  t.match((await get('/', { cookie })).text, 'token ann')
  clock.advance(61_000)
  t.match((await get('/', { cookie })).text, 'anonymous')
})

t.test(
  'a link on another site is followed once more from here, because the browser kept the cookie back',
  async (t) => {
    const { get } = await startPages(t, { security })
    const first = await get('/server', { 'sec-fetch-site': 'cross-site' })
    t.match(first.text, '<meta http-equiv="refresh" content="0; url=/server"')
    const second = await get('/server', { 'sec-fetch-site': 'same-origin' })
    t.notMatch(second.text, 'http-equiv="refresh"')
  },
)

t.test('a link on another site never sends the browser to a third one', async (t) => {
  const { origin } = await startPages(t, { security })
  const { port } = new URL(origin)
  /** The path as it is, which `fetch` would tidy. */
  const page = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { 'sec-fetch-site': 'cross-site' }
      const request = httpGet({ host: '127.0.0.1', port, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more
        })
        response.on('end', () => resolve(text))
      })
      request.on('error', reject)
    })
  const file = `blobs/sha256/file/${'a'.repeat(64)}-5`
  let followed = 0
  for (const start of [
    ...['/', '//evil.example/', '///evil.example/', '/\\evil.example/', '/\\/evil.example/', '/%2F/evil.example/'],
    ...[
      '/%5Cevil.example/',
      '/.//evil.example/',
      '/@evil.example/',
      '/:80/',
      '/x;url=//evil.example/',
      '/%09/evil.example/',
    ],
  ]) {
    const [, next] = /<meta http-equiv="refresh" content="0; url=([^"]*)"/.exec(await page(`${start}${file}`)) ?? []
    if (next === undefined) continue
    followed += 1
    t.equal(new URL(next.replaceAll('&amp;', '&'), origin).origin, origin, start)
  }
  t.ok(followed >= 3, `${followed} are followed`)
})

t.test('over TLS the cookie is for TLS only', async (t) => {
  const { origin } = await startPages(t, { security, pages: { address: 'https://builds.example' } })
  const answer = await fetch(`${origin}/login`, {
    ...{ method: 'POST', redirect: 'manual' },
    body: new URLSearchParams({ secret: 'token-of-ann' }),
  })
  t.match(answer.headers.get('set-cookie'), /^__Host-remexec=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
})

t.test('the pages begin at their path, and leave other paths alone', async (t) => {
  const { get } = await startPages(t, { pages: { path: '/pages' }, invocations })
  const list = await get('/pages')
  t.match(list.text, 'href="/pages/invocation/in-main?instance=main"')
  t.equal((await get('/pages/server')).answer.status, 200)
  t.match((await get('/elsewhere')).text, /^not found/)
})
