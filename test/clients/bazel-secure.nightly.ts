import { createHash } from 'node:crypto'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import { serve } from '../cli/program.js'
import { Authority, type Issued } from '../tls/authority.js'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, root, scratchFolder } from './scratch.js'
import { tlsTunnel } from './tls-tunnel.js'

// For changes in: src/security, src/tls, src/server/listener.ts

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || !/^(4\.2\.|no_version)/.test(release)) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(0, `needs Bazel 4.2 and found ${found}: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4`)
  process.exit()
}

const folder = await scratchFolder(t)
const workspace = await copyFixture('workspace', folder)
const bazel = new Bazel(program, folder, workspace)
t.teardown(() => bazel.shutdown())

const authority = new Authority(join(folder, 'authority'))
const me = authority.issue('me', { subject: '/CN=me' })
const [certFile, keyFile, tokensFile] = ['cert.pem', 'key.pem', 'tokens'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]

const placeCertificate = async ({ certFile: cert, keyFile: key }: Issued): Promise<void> => {
  await copyFile(cert, certFile)
  await copyFile(key, keyFile)
}
const placeTokens = (...names: readonly string[]): Promise<void> => {
  const lines = names.map((name) => `${name} ${createHash('sha256').update(name).digest('hex')} builders`)
  return writeFile(tokensFile, `${lines.join('\n')}\n`)
}

/** The default configuration behind mutual TLS, for builders with a token and readers with a certificate alone. */
const secured = async (): Promise<string> => {
  const config = JSON5.parse(await readFile(join(root, 'deploy/recipes/machine/remexec.json5'), 'utf8'))
  config.servers[0].listener.http.tls = {
    cert_file: certFile,
    key_file: keyFile,
    client_ca_file: authority.caFile,
  }
  config.security = {
    identity: { tokens_file: tokensFile, client_certificates: {} },
    access: [
      { groups: ['builders'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute'] },
      { names: ['me'], by: ['certificate'], may: ['read_cas', 'read_ac'] },
    ],
  }
  const path = join(folder, 'config.json')
  await writeFile(path, JSON.stringify(config))
  return path
}

await placeCertificate(authority.issue('server'))
await placeTokens('first', 'second')
const server = serve(t, await secured(), join(folder, 'data'))
const [, port] = await server.hears(/serving grpcs:\/\/127\.0\.0\.1:(\d+)"? .*public/)

const to = { host: 'localhost', port: Number(port), ca: authority.ca }
const stranger = await tlsTunnel(t, to)
const friend = await tlsTunnel(t, { ...to, cert: me.cert, key: me.key })
const bearer = (token: string) => [`--remote_header=authorization=Bearer ${token}`]
const build = (address: string, flags: readonly string[], ...targets: readonly string[]) =>
  bazel.run('build', `--remote_executor=grpc://${address}`, '--remote_retries=0', ...flags, '--', ...targets)

t.test('Bazel is refused without a certificate, without a token that may execute, and with a wrong one', async (t) => {
  const uncertified = await build(stranger, bearer('first'), '//plain:upper')
  t.not(uncertified.code, 0)
  t.match(uncertified.output, /UNAVAILABLE/)
  const guest = await build(friend, [], '//plain:upper')
  t.not(guest.code, 0)
  t.match(guest.output, /not authorized|Remote execution is not supported|not enabled/)
  const wrong = await build(friend, bearer('wrong'), '//plain:upper')
  t.not(wrong.code, 0)
  t.match(wrong.output, /UNAUTHENTICATED: the bearer token is not known here/)
})

t.test('Bazel builds over mutual TLS with a token, while certificate and tokens are rotated', async (t) => {
  let hasEnded = false
  const building = build(friend, bearer('first'), '//...').finally(() => {
    hasEnded = true
  })
  await server.hears(/connected to the scheduler/)
  await placeCertificate(authority.issue('next'))
  await placeTokens('first', 'third')
  await server.hears(/certificates of server public were read again/)
  await server.hears(/contents of .*tokens were read again/)
  t.equal(hasEnded, false, 'in the middle of the build')
  const invocation = await building
  t.equal(invocation.code, 0, 'the build goes on') || t.comment(invocation.output, server.said())
  t.same(Object.keys(invocation.ran), ['remote'])

  const gone = await build(friend, bearer('second'), '//plain:upper')
  t.match(gone.output, /UNAUTHENTICATED/, 'a token that was taken away')
  await bazel.clean()
  const fresh = await build(friend, bearer('third'), '//...')
  t.equal(fresh.code, 0) || t.comment(fresh.output, server.said())
  t.same(Object.keys(fresh.ran), ['remote cache hit'])
})

t.test('a client with read permissions takes results from the cache and writes none', async (t) => {
  await bazel.clean()
  const flags = [`--remote_cache=grpc://${friend}`, '--spawn_strategy=local']
  const reading = await bazel.run('build', ...flags, '--noremote_upload_local_results', '--', '//plain:upper')
  t.equal(reading.code, 0) || t.comment(reading.output, server.said())
  t.same(reading.ran, { 'remote cache hit': 1 })
  t.notMatch(server.said(), /\b(first|second|third)\b.{0,3}builders/, 'the log holds no line of the tokens')
})
