/** The buttons of the status page that drain workers: real requests to an assembled server with tokens. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { bearer, startGuarded } from '../security/server.js'
import { FakeWorker } from '../service/execution-harness.js'
import { until } from '../until.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const authorized = (name: string) => ({ authorization: `Bearer token-of-${name}` })

const security = (path: string) => ({
  identity: { tokens: ['ann', 'eve', 'bob', 'runner'].map((name) => ({ name, sha256: sha256(`token-of-${name}`) })) },
  access: [
    { names: ['ann', 'eve'], may: ['administer'] },
    { names: ['runner'], may: ['work'] },
  ],
  audit_log: { path },
})

const start = async (t: Test, services: object = { admin: {} }) => {
  const audit = `${t.testdir()}/audit`
  const { port, client, clock, said } = await startGuarded(t, security(audit), {}, undefined, services)
  const worker = await new FakeWorker(client, clock, bearer('token-of-runner')).hello({ maxInflightAttempts: 1 })
  const address = `http://127.0.0.1:${port}`
  const page = async (name: string) => {
    const answer = await fetch(`${address}/`, { headers: authorized(name) })
    const html = await answer.text()
    const [, target = '', token = '', button = ''] =
      /<form method="post" action="([^"]*)"><input type="hidden" name="token" value="([^"]*)"\/><button[^>]*>(.*?)<\/button>/.exec(
        html,
      ) ?? []
    const state = /<\/th><td><span class="mark \w+">(\w+)</.exec(html)?.[1]
    return { answer, html, target: target.replaceAll('&amp;', '&'), token, button, state }
  }
  const press = async (name: string, target: string, token: string | undefined, headers: object = {}) => {
    const {
      status,
      headers: given,
      ...answer
    } = await fetch(`${address}${target}`, {
      ...{ method: 'POST', redirect: 'manual' as const },
      headers: { ...authorized(name), ...headers },
      body: new URLSearchParams(token === undefined ? {} : { token }),
    }).then(async (got) => ({ status: got.status, headers: got.headers, text: await got.text() }))
    return { status, location: given.get('location'), ...answer }
  }
  return { audit, said, worker, address, page, press }
}

t.test('an operator drains a worker and ends that on the status page, and both logs say so', async (t) => {
  const { audit, said, worker, address, page, press } = await start(t)
  const first = await page('ann')
  t.match(first, { button: 'drain', target: `/admin/form/drain?scheduler=S&worker=${worker.id}`, state: 'connected' })
  t.match(await press('ann', first.target, first.token, { origin: address }), { status: 303, location: '/' })
  const second = await page('ann')
  t.match(second, { button: 'undrain', state: 'draining' })
  t.match(await press('ann', second.target, second.token), { status: 303, location: '/' })
  t.match(await page('ann'), { button: 'drain', state: 'connected' })
  t.match(await press('ann', second.target, second.token), { status: 404, text: /that was drained here/ }, 'once more')

  for (const what of ['an operator drained a worker', 'an operator ended the drain of a worker']) {
    t.match(said.text, new RegExp(`${what}.*${worker.id}.*token ann.*127\\.0\\.0\\.1`))
  }
  const lines = () => readFileSync(audit, 'utf8').split('\n')
  await until(() => lines().filter((line) => line.includes('POST')).length >= 3)
  const query = `scheduler=S&worker=${worker.id}`
  t.match(
    lines()
      .filter((line) => line.includes('POST'))
      .map((line) => JSON.parse(line)),
    ['drain', 'undrain', 'undrain'].map((change) => ({
      ...{ method: `POST /admin/form/${change}`, query, identity: 'token ann', allowed: true },
    })),
  )
  t.notOk(readFileSync(audit, 'utf8').includes(first.token), 'no token is in it')
})

t.test('nothing changes without the right, the token of the page, or from another site', async (t) => {
  const { worker, address, page, press } = await start(t)
  const { target, token } = await page('ann')
  const refused = async (what: string, answer: ReturnType<typeof press>, status: number, text: RegExp) => {
    t.match(await answer, { status, text }, what)
    t.match(await page('ann'), { state: 'connected' }, `${what}: it takes actions`)
  }
  t.match(await page('bob').then(({ answer, token: got }) => ({ status: answer.status, got })), {
    status: 403,
    got: '',
  })
  await refused('no right', press('bob', target, token), 403, /token bob may not administer/)
  await refused('the token of another operator', press('eve', target, token), 403, /its token is missing/)
  await refused('no token', press('ann', target, undefined), 403, /its token is missing/)
  await refused('another token', press('ann', target, `${token.slice(1)}A`), 403, /load it again/)
  const all = target.replace(worker.id, '*')
  await refused('the token of one worker for all', press('ann', all, token), 403, /its token is missing/)
  for (const origin of ['https://elsewhere.example', 'null', address.replace('http', 'https').replace(/\d$/, 'x')]) {
    await refused(origin, press('ann', target, token, { origin }), 403, /it comes from/)
  }
  for (const site of ['cross-site', 'same-site', 'none']) {
    await refused(site, press('ann', target, token, { 'sec-fetch-site': site }), 403, new RegExp(`it is ${site}`))
  }
  await refused('a long body', press('ann', target, 'x'.repeat(5000)), 429, /at most 1024/)
  await refused('text', press('ann', target, token, { 'content-type': 'text/plain' }), 415, /content-type text\/plain/)
  for (const method of ['GET', 'HEAD', 'PUT']) {
    const answer = await fetch(`${address}${target}&token=${token}`, { method, headers: authorized('ann') })
    t.equal(answer.status, 405, method)
  }
  t.match(await page('ann'), { state: 'connected', button: 'drain' }, 'GET changes nothing')
  t.match(
    await press('ann', target, token, { 'sec-fetch-site': 'same-origin', origin: 'https://proxy.example' }),
    { status: 303 },
    'behind a proxy with another name the browser says that it is the same site',
  )
})

t.test('the audit log does not say of a refused form that it was allowed', async (t) => {
  const { audit, address, page, press } = await start(t)
  const { target, token } = await page('ann')
  await press('ann', target, undefined)
  await press('ann', target, token, { origin: 'https://elsewhere.example' })
  await press('ann', target, 'x'.repeat(5000))
  await press('ann', target, token, { 'content-type': 'text/plain' })
  await press('bob', target, token)
  await press('ann', target, token, { origin: address })
  const lines = () =>
    readFileSync(audit, 'utf8')
      .split('\n')
      .filter((line) => line.includes('POST'))
  await until(() => lines().length >= 6)
  t.match(
    lines().map((line) => JSON.parse(line)),
    [
      { identity: 'token ann', allowed: false, code: 'PERMISSION_DENIED', reason: /its token is missing/ },
      { identity: 'token ann', allowed: false, code: 'PERMISSION_DENIED', reason: /it comes from elsewhere/ },
      { identity: 'token ann', allowed: false, code: 'RESOURCE_EXHAUSTED', reason: /at most 1024/ },
      { identity: 'token ann', allowed: false, code: 'INVALID_ARGUMENT', reason: /content-type text/ },
      { identity: 'token bob', allowed: false, code: 'PERMISSION_DENIED', reason: /may not administer/ },
      { identity: 'token ann', allowed: true },
    ],
  )
  t.equal(lines().length, 6, 'one line each')
})

t.test('without the admin service there are no forms', async (t) => {
  const { worker, page, press } = await start(t, {})
  const { html, target } = await page('ann')
  t.ok(html.includes(worker.id))
  t.notMatch(html, /<form/)
  t.equal(target, '')
  t.match(await press('ann', `/admin/form/drain?scheduler=S&worker=${worker.id}`, 'x'), { status: 404 })
})

t.test(
  'the page loads nothing from elsewhere, runs its own script alone, and sends forms to its server alone',
  async (t) => {
    const { page } = await start(t)
    const { answer, html } = await page('ann')
    const hashOf = (tag: RegExp): string =>
      createHash('sha256')
        .update(tag.exec(html)?.[1] ?? '')
        .digest('base64')
    const [style, script] = [hashOf(/<style>(.*?)<\/style>/s), hashOf(/<script[^>]*>(.*?)<\/script>/s)]
    t.equal(
      answer.headers.get('content-security-policy'),
      `default-src 'none'; style-src 'sha256-${style}'; script-src 'sha256-${script}'; img-src data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    )
    t.equal(answer.headers.get('cache-control'), 'private, no-store')
    t.notMatch(html, / style="/, 'which its policy would ignore')
  },
)
