/** Readers log in with a real identity provider: OpenID Connect, authorization code with PKCE. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import t, { type Test } from 'tap'
import { bazel } from '../builds/harness.js'
import { rowsIn, startPages, textIn } from './harness.js'

const invocations = ['main', 'other'].map((instance) => ({
  id: `in-${instance}`,
  instance,
  events: [bazel({ started: { command: 'build' } }), bazel({ finished: { exitCode: { code: 0 } } })],
}))

/** By which readers reach the pages, as far as they know. */
const ADDRESS = 'http://builds.example'

/** The groups of each account. */
const GROUPS: Readonly<Record<string, readonly string[]>> = { ann: ['builders'], bob: ['guests'] }

/** A provider whose every reader is `account` and agrees to everything. */
const startProvider = async (t: Test) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const client = {
    ...{ client_id: 'pages', client_secret: 'of the pages: 100 % secret' },
    ...{
      grant_types: ['authorization_code'],
      response_types: ['code' as const],
      redirect_uris: [`${ADDRESS}/see/login/callback`],
    },
  }
  const state = { account: 'ann', refuses: false, tokenRequests: 0 }
  const claims = async (account: string) => ({ sub: account, name: account, groups: GROUPS[account] })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'ES256', kid: 'one' }] },
    clients: [{ ...client, id_token_signed_response_alg: 'ES256' }],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    findAccount: async (_, id) => ({ accountId: id, claims: () => claims(id) }),
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of the test'] },
  })
  server.on('request', (request, response) => {
    if (request.url === '/token') state.tokenRequests += 1
    if (request.url?.startsWith('/interaction/') === true) void interact(request, response).catch(t.threw)
    else provider.callback()(request, response)
  })
  const interact = async (request: IncomingMessage, response: Parameters<typeof provider.interactionFinished>[1]) => {
    const { prompt, params, grantId } = await provider.interactionDetails(request, response)
    if (state.refuses) {
      await provider.interactionFinished(request, response, { error: 'access_denied', error_description: '<b>no</b>' })
      return
    }
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: state.account } })
      return
    }
    const grant = grantId === undefined ? undefined : await provider.Grant.find(grantId)
    const given = grant ?? new provider.Grant({ accountId: state.account, clientId: String(params['client_id']) })
    given.addOIDCScope('openid profile email')
    await provider.interactionFinished(request, response, { consent: { grantId: await given.save() } })
  }
  return { issuer, state }
}

/** What a browser does between the pages and the provider: it follows redirects, with the cookies of each host. */
class Browser {
  readonly #origin: string
  readonly #cookies = new Map<string, Map<string, string>>()

  /** `origin`: where the pages really are. */
  constructor(origin: string) {
    this.#origin = origin
  }

  cookiesOf(url: string): Map<string, string> {
    const { origin } = new URL(url)
    const known = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, known)
    return known
  }

  /** Goes on until there is an address that begins with `until`, or one that leads nowhere else. */
  async get(
    url: string,
    until = 'none',
  ): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
    let at = url
    for (let hops = 0; hops < 12; hops++) {
      if (at.startsWith(until)) return { url: at, text: '', status: 0 }
      const cookies = this.cookiesOf(at)
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const real = at.replace(ADDRESS, this.#origin)
      // A connection that was kept may end while the clock of the test jumps.
      const answer = await fetch(real, { redirect: 'manual', headers: { cookie, connection: 'close' } })
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';')
        const equals = pair.indexOf('=')
        cookies.set(pair.slice(0, equals), pair.slice(equals + 1))
      }
      const text = await answer.text()
      const location = answer.headers.get('location') ?? /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1]
      if (location === undefined || location === null) return { url: at, status: answer.status, text }
      at = new URL(location.replaceAll('&amp;', '&'), at).href
    }
    throw new Error(`${url} leads from address to address`)
  }
}

const start = async (t: Test) => {
  const provider = await startProvider(t)
  const { issuer } = provider
  const pages = await startPages(t, {
    invocations,
    pages: { address: ADDRESS, path: '/see', session_s: 600 },
    security: {
      identity: {
        oidc: {
          ...{ issuer, client_id: 'pages', client_secret: 'of the pages: 100 % secret', label: 'Example' },
          ...{ name_claim: 'name', groups_claim: 'groups', scopes: ['profile'] },
        },
      },
      access: [
        { groups: ['builders'], by: ['jwt'], may: ['read_ac', 'read_cas'], instances: ['main'] },
        { groups: ['guests'], by: ['jwt'], may: ['read_ac'], instances: ['other'] },
      ],
    },
  })
  return { ...pages, provider, newBrowser: () => new Browser(pages.origin) }
}

t.test(
  'a reader logs in with the provider, and sees the builds of the instances that his groups may read',
  async (t) => {
    const { provider, clock, newBrowser } = await start(t)
    const browser = newBrowser()
    const door = await browser.get(`${ADDRESS}/see/login?back=${encodeURIComponent('/see/?sort=took')}`)
    t.match(textIn(door.text), 'Log in with Example')
    t.notMatch(door.text, 'type="password"', 'there is no other way in')
    const [, link = ''] = /<a class="button" href="([^"]*)"/.exec(door.text) ?? []
    const inside = await browser.get(new URL(link.replaceAll('&amp;', '&'), ADDRESS).href)
    t.equal(inside.url, `${ADDRESS}/see/?sort=took`, 'where he wanted to go')
    t.match(textIn(inside.text), /jwt ann Log out/)
    t.same(
      rowsIn(inside.text)
        .slice(1)
        .map(([, build]) => build),
      ['build'],
    )
    t.match(inside.text, 'in-main')
    t.equal((await browser.get(`${ADDRESS}/see/invocation/in-other`)).status, 404)
    const cookies = browser.cookiesOf(ADDRESS)
    t.notOk(
      [...cookies.values()].some((value) => value.includes('ann')),
      'no cookie says who it is',
    )

    clock.advance(601_000)
    t.match(textIn((await browser.get(`${ADDRESS}/see/`)).text), 'anonymous', 'the session has ended')

    provider.state.account = 'bob'
    const other = await newBrowser().get(`${ADDRESS}/see/login/provider?back=/see/`)
    t.match(other.text, 'in-other')
    t.notMatch(other.text, 'in-main')
  },
)

t.test('who did not begin a login cannot end it, and what the provider refuses is said', async (t) => {
  const { provider, origin, newBrowser } = await start(t)
  const callback = `${ADDRESS}/see/login/callback`
  const strange = await newBrowser().get(`${callback}?code=stolen&state=guessed`)
  t.equal(strange.status, 401)
  t.match(textIn(strange.text), 'this browser did not begin it')

  /** A browser that has been sent to the provider. */
  const begun = async () => {
    const browser = newBrowser()
    const answer = await fetch(`${origin}/see/login/provider?back=//evil.example`, { redirect: 'manual' })
    const [set = ''] = answer.headers.getSetCookie()
    t.match(set, /^remexec-login=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    browser.cookiesOf(ADDRESS).set('remexec-login', set.replace(/^[^=]*=|;.*$/g, ''))
    const asked = new URL(answer.headers.get('location') ?? '').searchParams
    return { browser, asked }
  }
  const { browser, asked } = await begun()
  t.match(Object.fromEntries(asked), {
    ...{ response_type: 'code', client_id: 'pages', redirect_uri: callback, scope: 'openid profile' },
    ...{ code_challenge_method: 'S256', code_challenge: /^[\w-]{43}$/, state: /^[\w-]{43}$/, nonce: /^[\w-]{43}$/ },
  })
  const state = asked.get('state') ?? ''
  for (const [query, words] of [
    [{ state: `${state.slice(1)}A`, code: 'x' }, 'this browser did not begin it'],
    [{ state, iss: 'https://evil.example', code: 'x' }, 'of another provider'],
    [{ state, error: 'access_denied', error_description: '<script>' }, 'the provider says access_denied'],
    [{ state, error: '<b>"no"</b>' }, 'the provider says no known error'],
    [{ state }, 'has no code'],
    [{ state, code: 'never given' }, 'the provider says invalid_grant'],
  ] as const) {
    const refused = await browser.get(`${callback}?${new URLSearchParams(query)}`)
    t.equal(refused.status, 401, words)
    t.match(textIn(refused.text), words)
    t.notOk(browser.cookiesOf(ADDRESS).has('remexec'), `${words}: no session`)
  }
  provider.state.refuses = true
  const refused = await newBrowser().get(`${ADDRESS}/see/login/provider?back=//evil.example`)
  t.match(textIn(refused.text), 'the provider says access_denied')
  provider.state.refuses = false
  const home = await newBrowser().get(`${ADDRESS}/see/login/provider?back=//evil.example`)
  t.equal(home.url, `${ADDRESS}/see/`, 'no address of another host')
})

t.test('a code of one login is worth nothing in another', async (t) => {
  const { origin, newBrowser } = await start(t)
  const victim = newBrowser()
  const first = await fetch(`${origin}/see/login/provider`, { redirect: 'manual' })
  victim.cookiesOf(ADDRESS).set('remexec-login', (first.headers.get('set-cookie') ?? '').replace(/^[^=]*=|;.*$/g, ''))
  const state = new URL(first.headers.get('location') ?? '').searchParams.get('state') ?? ''
  // The attacker's own code, taken from his address before the pages see it.
  const own = await newBrowser().get(`${ADDRESS}/see/login/provider`, `${ADDRESS}/see/login/callback`)
  const code = new URL(own.url).searchParams.get('code') ?? ''
  t.not(code, '')
  const injected = await victim.get(`${ADDRESS}/see/login/callback?${new URLSearchParams({ code, state })}`)
  t.equal(injected.status, 401)
  t.match(textIn(injected.text), 'invalid_grant', 'its verifier is of another login (PKCE)')
})

t.test('a provider that is away is said to be so, and tried again', async (t) => {
  const { get } = await startPages(t, {
    pages: { address: 'https://builds.example' },
    security: { identity: { oidc: { issuer: 'http://127.0.0.1:9', client_id: 'pages' } } },
  })
  for (const _ of [1, 2]) {
    const { answer, text } = await get('/login/provider')
    t.equal(answer.status, 503)
    t.match(textIn(text), 'the identity provider does not answer now')
  }
})
