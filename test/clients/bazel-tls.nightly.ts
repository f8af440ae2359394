import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import { serve } from '../cli/program.js'
import { Authority, type Issued } from '../tls/authority.js'
import { Bazel, bazelRelease } from './bazel.js'
import { copyFixture, root, scratchFolder } from './scratch.js'

// For changes in: src/tls, src/server/listener.ts

t.setTimeout(900_000)

// Releases of Bazel's own makers speak TLS; those of Debian lack ALPN. This one shows no certificate of its own, and sends its
// headers with some calls only: tokens and mutual TLS are in bazel-secure.nightly.ts.
const program = process.env['REMEXEC_TEST_BAZEL_2'] ?? 'bazel-2.1.0'
const release = await bazelRelease(program)
if (!release?.startsWith('2.1.')) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(
    0,
    `needs Bazel 2.1 and found ${found}: npm install @bazel/bazel-linux_x64@2.1.0 and name it in REMEXEC_TEST_BAZEL_2`,
  )
  process.exit()
}

const folder = await scratchFolder(t)
const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
t.teardown(() => bazel.shutdown())

const authority = new Authority(join(folder, 'authority'))
const stranger = new Authority(join(folder, 'stranger'))
const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
const place = async (issued: Issued): Promise<void> => {
  await copyFile(issued.certFile, certFile)
  await copyFile(issued.keyFile, keyFile)
}
await place(authority.issue('server'))

const config = JSON5.parse(await readFile(join(root, 'deploy/recipes/machine/remexec.json5'), 'utf8'))
config.servers[0].listener.http.tls = { cert_file: certFile, key_file: keyFile }
const configFile = join(folder, 'config.json')
await writeFile(configFile, JSON.stringify(config))
const server = serve(t, configFile, join(folder, 'data'))
const [, port] = await server.hears(/serving grpcs:\/\/127\.0\.0\.1:(\d+)"? .*public/)
await server.hears(/connected to the scheduler/)

const build = (scheme: string, { caFile }: Authority, ...targets: readonly string[]) => {
  const to = [`--remote_executor=${scheme}://localhost:${port}`, `--tls_certificate=${caFile}`]
  return bazel.run('build', ...to, '--remote_retries=0', '--', ...targets)
}

t.test('Bazel speaks TLS itself: it builds where it knows the authority, and not elsewhere', async (t) => {
  const untrusting = await build('grpcs', stranger, '//plain:upper')
  t.not(untrusting.code, 0, 'it does not trust the server')
  t.match(untrusting.output, /UNAVAILABLE/)
  const plain = await build('grpc', authority, '//plain:upper')
  t.not(plain.code, 0, 'without TLS nobody is served')
  const built = await build('grpcs', authority, '//plain/...', '//tree/...')
  t.equal(built.code, 0) || t.comment(built.output, server.said())
  t.same(Object.keys(built.ran), ['remote'])
})

t.test('a certificate that was replaced serves the next build', async (t) => {
  await place(authority.issue('next'))
  await server.hears(/certificates of server public were read again/)
  await bazel.clean()
  const again = await build('grpcs', authority, '//plain/...', '//tree/...')
  t.equal(again.code, 0) || t.comment(again.output, server.said())
  t.same(Object.keys(again.ran), ['remote cache hit'])
})
