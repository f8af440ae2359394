import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { Addresses } from '../../src/download/addresses.js'
import { Origins } from '../../src/download/origins.js'

const NOT_PUBLIC = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['169.254.169.254', '100.64.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1'],
  ...['::', '::1', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
  ...['::ffff:7f00:1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::1', '2001::1', 'not an address', ''],
]
const PUBLIC = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8']

t.test('only public addresses are permitted, in every notation', async (t) => {
  const addresses = new Addresses()
  for (const address of NOT_PUBLIC) t.notOk(addresses.permits(address), address)
  for (const address of PUBLIC) t.ok(addresses.permits(address), address)
})

t.test('networks of the configuration are permitted too, and no others', async (t) => {
  const addresses = new Addresses(['10.1.0.0/16', '192.168.1.7', 'fd00::/8', '::1'])
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.168.1.7', 'fd00::5', '::1', '8.8.8.8'])
    t.ok(addresses.permits(address), address)
  for (const address of ['10.2.0.1', '192.168.1.8', 'fc00::1', '127.0.0.1'])
    t.notOk(addresses.permits(address), address)
  t.throws(() => new Addresses(['10.0.0.0/33']), RangeError)
  t.throws(() => new Addresses(['example.com']), RangeError)
})

t.test('a name is resolved once, and refused if any of its addresses is not permitted', async (t) => {
  const lookUp = (addresses: Addresses, host: string, all: boolean) =>
    new Promise<unknown>((resolve) => addresses.lookup(host, { all }, (...found) => resolve(found)))
  const [error] = (await lookUp(new Addresses(), 'localhost', true)) as [StatusError]
  t.ok(error instanceof StatusError)
  t.equal(error.code, 7)
  t.notMatch(error.message, /127\.0\.0\.1|::1/, 'clients do not learn the addresses of names')
  const open = new Addresses(['127.0.0.0/8', '::1'])
  const [none, found] = (await lookUp(open, 'localhost', true)) as [null, { address: string }[]]
  t.equal(none, null)
  t.ok(found.length > 0)
  t.match(await lookUp(open, 'localhost', false), [null, /^(127|::1)/, Number])
  t.match(await lookUp(open, 'no-such-host.invalid', true), [{ code: /ENOTFOUND|EAI_AGAIN/ }])
})

t.test('origins by scheme, host and port; deny takes precedence', async (t) => {
  const origins = new Origins({
    allow: ['example.com', '*.Example.org'],
    deny: ['bad.example.org'],
    ports: [80, 443, 8080],
  })
  const allows = (text: string): boolean => {
    try {
      origins.check(new URL(text))
      return true
    } catch (error) {
      t.equal((error as StatusError).code, 7, text)
      return false
    }
  }
  for (const url of [
    'http://example.com/',
    'https://EXAMPLE.com:8080/',
    'https://a.b.example.org/',
    'https://example.com./',
  ])
    t.ok(allows(url), url)
  for (const url of [
    ...['https://a.example.com/', 'https://example.org/', 'https://bad.example.org/', 'https://notexample.com/'],
    ...['https://example.com:22/', 'ftp://example.com/', 'file:///etc/passwd', 'https://user:x@example.com/'],
    ...['https://example.com.evil.net/', 'https://evil.net/example.com'],
  ])
    t.notOk(allows(url), url)
  t.doesNotThrow(() => new Origins({ allow: ['*'], deny: [], ports: [443] }).check(new URL('https://[2606:4700::1]/')))
})
