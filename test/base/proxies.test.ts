/** Which connections take a proxy, by the variables of the environment. */
import t from 'tap'
import { checkProxies, proxyOf } from '../../src/base/proxies.js'

const HTTPS = { HTTPS_PROXY: 'http://proxy:3128' }

const to = (address: string, env: Record<string, string>): string | undefined => {
  const { protocol, hostname, port } = new URL(address)
  const https = protocol === 'https:'
  return proxyOf({ protocol: https ? 'https:' : 'http:', hostname, port: Number(port || (https ? 443 : 80)) }, env)
    ?.href
}

t.test('each protocol has its proxy, and names in lower case go before', async (t) => {
  t.equal(to('https://a.example', HTTPS), 'http://proxy:3128/')
  t.equal(to('http://a.example', HTTPS), undefined)
  t.equal(to('http://a.example', { HTTP_PROXY: 'http://plain:1' }), 'http://plain:1/')
  t.equal(to('https://a.example', { HTTP_PROXY: 'http://plain:1' }), undefined)
  t.equal(to('https://a.example', { ...HTTPS, https_proxy: 'http://lower:1' }), 'http://lower:1/')
  t.equal(to('https://a.example', { ...HTTPS, https_proxy: '' }), 'http://proxy:3128/')
})

t.test('this machine is always reached directly', async (t) => {
  for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.8.0.1', '[::1]', 'LOCALHOST'])
    t.equal(to(`https://${host}`, HTTPS), undefined, host)
  t.ok(to('https://128.0.0.1', HTTPS))
})

t.test('NO_PROXY has hosts with those below them, addresses, networks and ports', async (t) => {
  const isDirect = (host: string, NO_PROXY: string): boolean =>
    to(`https://${host}`, { ...HTTPS, NO_PROXY }) === undefined
  for (const entry of [
    'corp.example',
    '.corp.example',
    '*.corp.example',
    'CORP.example',
    'other, corp.example',
    'x corp.example',
  ]) {
    t.ok(isDirect('corp.example', entry), entry)
    t.ok(isDirect('a.b.corp.example', entry), entry)
    t.notOk(isDirect('notcorp.example', entry), entry)
    t.notOk(isDirect('corp.example.org', entry), entry)
  }
  t.ok(isDirect('10.1.2.3', '10.0.0.0/8'))
  t.notOk(isDirect('11.1.2.3', '10.0.0.0/8'))
  t.ok(isDirect('10.1.2.3', '10.1.2.3'))
  t.notOk(isDirect('10.1.2.3', '10.1.2.3/99'), 'a network that there cannot be is no network')
  t.ok(isDirect('[fd00::1]', 'fd00::/8'))
  t.ok(isDirect('[fd00::1]', '[fd00::1]'))
  t.notOk(isDirect('[fe00::1]', 'fd00::/8'))
  t.ok(isDirect('a.example:8443', 'a.example:8443'))
  t.notOk(isDirect('a.example:8444', 'a.example:8443'))
  t.ok(isDirect('anything.example', '*'))
  t.notOk(isDirect('anything.example', ''))
  t.equal(to('https://a.example', { ...HTTPS, NO_PROXY: 'b.example', no_proxy: 'a.example' }), undefined)
})

t.test('what is no URL of a proxy is refused', async (t) => {
  for (const value of ['proxy:3128', 'socks5://proxy:1', 'proxy'])
    t.throws(() => checkProxies({ http_proxy: value }), /the variable http_proxy is no URL of a proxy/, value)
  t.throws(() => to('https://a.example', { https_proxy: 'proxy' }), /https_proxy is no URL/)
  checkProxies({ HTTPS_PROXY: '', http_proxy: 'https://user:word@proxy' })
})
